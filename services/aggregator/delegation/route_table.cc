#include "services/aggregator/delegation/route_table.h"

#include "lib/base/log.h"

namespace apimesh::aggregator {
namespace {

std::vector<std::string> ResourcesOf(const rpc::GroupVersionDescription& gv) {
  std::vector<std::string> names;
  boost::system::error_code error;
  const boost::json::value list = boost::json::parse(gv.resource_list, error);
  if (error || !list.is_object()) return names;
  const boost::json::value* resources = list.get_object().if_contains("resources");
  if (resources == nullptr || !resources->is_array()) return names;
  for (const boost::json::value& resource : resources->get_array()) {
    const boost::json::value* name = resource.is_object() ? resource.get_object().if_contains("name") : nullptr;
    if (name && name->is_string()) names.push_back(fmt::format("{}/{}/{}", gv.group, gv.version, std::string_view(name->get_string())));
  }
  return names;
}

void Index(Routes& routes) {
  const auto before = std::exchange(routes.listed, {});  // what is listed as before need not be read again
  routes.by_group_version.clear();
  routes.by_path.clear();
  routes.resources.clear();
  for (const bool external : {true, false}) {
    for (std::size_t i = 0; i < routes.delegates.size(); ++i) {
      const auto& description = routes.delegates[i].description;
      if (!description || (routes.delegates[i].kind == Delegate::Kind::kExternal) != external) continue;
      for (const auto& gv : description->group_versions) {
        routes.by_group_version.emplace(gv.group + "/" + gv.version, i);
        const auto known = before.find(gv.resource_list);
        const auto names = known != before.end() ? known->second : std::make_shared<const std::vector<std::string>>(ResourcesOf(gv));
        routes.listed.emplace(gv.resource_list, names);
        routes.resources.insert(names->begin(), names->end());
      }
      for (const std::string& path : description->paths) routes.by_path.emplace(path, i);
    }
  }
}

// "/a" covers "/a" and "/a/b", not "/ab"; "/a/" covers what is below it.
bool Covers(std::string_view prefix, std::string_view path) {
  if (!path.starts_with(prefix)) return false;
  return path.size() == prefix.size() || prefix.ends_with('/') || path[prefix.size()] == '/';
}

}  // namespace

const Delegate* Routes::For(const meta::RequestInfo& info) const {
  if (delegates.empty()) return nullptr;
  if (!info.api_version.empty()) {
    const auto found = by_group_version.find(info.api_group + "/" + info.api_version);
    if (found != by_group_version.end()) return &delegates[found->second];
  }
  if (!info.is_resource_request) {
    // The longest prefix is the last that is not greater than the path, among those that cover it.
    for (auto it = by_path.upper_bound(info.path); it != by_path.begin();) {
      --it;
      if (Covers(it->first, info.path)) return &delegates[it->second];
    }
  }
  return &delegates.front();
}

bool Routes::KnowsResource(const meta::RequestInfo& info) const {
  std::string key = fmt::format("{}/{}/{}", info.api_group, info.api_version, info.resource);
  if (!info.subresource.empty()) key += "/" + info.subresource;
  return resources.contains(key);
}

void RouteTable::Add(std::string name, std::shared_ptr<rpc::DelegateClient> client, Delegate::Kind kind) {
  auto next = std::make_shared<Routes>(*Current());
  next->delegates.push_back({std::move(name), std::move(client), std::nullopt, false, kind});
  const std::lock_guard lock(mutex_);
  routes_ = std::move(next);
}

void RouteTable::Start(std::function<void(RoutesPtr)> changed) {
  changed_ = std::move(changed);
  const RoutesPtr routes = Current();
  for (std::size_t i = 0; i < routes->delegates.size(); ++i) {
    subscriptions_.push_back(routes->delegates[i].client->Describe(
        [this, i](std::optional<rpc::Description> description) { Update(i, std::move(description)); }));
  }
}

void RouteTable::Stop() {
  subscriptions_.clear();
  const std::lock_guard one_at_a_time(change_mutex_);
  changed_ = nullptr;  // it may hold whoever holds this table
}

RoutesPtr RouteTable::Current() const {
  const std::lock_guard lock(mutex_);
  return routes_;
}

void RouteTable::SetExternal(std::vector<Delegate> externals) {
  const std::lock_guard one_at_a_time(change_mutex_);
  auto next = std::make_shared<Routes>(*Current());
  std::erase_if(next->delegates, [](const Delegate& delegate) { return delegate.kind == Delegate::Kind::kExternal; });
  for (Delegate& external : externals) next->delegates.push_back(std::move(external));
  Index(*next);
  {
    const std::lock_guard lock(mutex_);
    routes_ = next;
  }
  if (changed_) changed_(std::move(next));
}

void RouteTable::Update(std::size_t index, std::optional<rpc::Description> description) {
  const std::lock_guard one_at_a_time(change_mutex_);
  auto next = std::make_shared<Routes>(*Current());
  Delegate& delegate = next->delegates[index];
  const bool was_up = delegate.up;
  delegate.up = description.has_value();
  if (description) delegate.description = std::move(description);
  if (was_up != delegate.up) log::Info("{} is {}", delegate.name, delegate.up ? "up" : "down");
  Index(*next);
  {
    const std::lock_guard lock(mutex_);
    routes_ = next;
  }
  if (changed_) changed_(std::move(next));
}

}  // namespace apimesh::aggregator
