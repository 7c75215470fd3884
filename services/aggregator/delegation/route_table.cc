#include "services/aggregator/delegation/route_table.h"

#include <algorithm>
#include <atomic>

#include "lib/base/log.h"

namespace apimesh::aggregator {
namespace {

ResourceNames ResourcesOf(const mesh::GroupVersionDescription& gv) {
  ResourceNames names;
  boost::system::error_code error;
  const boost::json::value list = boost::json::parse(gv.resource_list, error);
  if (error || !list.is_object()) return names;
  const boost::json::value* resources = list.get_object().if_contains("resources");
  if (resources == nullptr || !resources->is_array()) return names;
  for (const boost::json::value& resource : resources->get_array()) {
    const boost::json::value* name = resource.is_object() ? resource.get_object().if_contains("name") : nullptr;
    if (name && name->is_string()) names.emplace(std::string_view(name->get_string()));
  }
  return names;
}

/// Makes the indexes of new routes. `before` has the lists that need not be parsed again.
void Index(Routes& routes, const Routes& before) {
  routes.listed.reserve(before.listed.size() + 1);
  for (const bool external : {true, false}) {
    for (std::size_t i = 0; i < routes.delegates.size(); ++i) {
      const auto& description = routes.delegates[i].description;
      if (!description || routes.delegates[i].Foreign() != external) continue;
      for (const mesh::GroupVersionPtr& gv : description->group_versions) {
        const auto known = before.listed.find(gv);
        const auto names =
            known != before.listed.end() ? known->second : std::make_shared<const ResourceNames>(ResourcesOf(*gv));
        routes.listed.emplace(gv, names);
        ServedGroupVersion& served = routes.by_group_version[gv->group + "/" + gv->version];
        if (!served.description) {
          served.delegate = i;
          served.description = gv;
        }
        served.resources.push_back(names);
      }
      for (const std::string& path : description->paths) routes.by_path.emplace(path, i);
    }
  }
}

// "/a" covers "/a" and "/a/b", but not "/ab"; "/a/" covers the paths below it.
bool Covers(std::string_view prefix, std::string_view path) {
  if (!path.starts_with(prefix)) return false;
  return path.size() == prefix.size() || prefix.ends_with('/') || path[prefix.size()] == '/';
}

}  // namespace

std::uint64_t NewOpenApiVersion() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

const Delegate* Routes::For(const meta::RequestInfo& info) const {
  if (delegates.empty()) return nullptr;
  if (!info.api_version.empty()) {
    const auto found = by_group_version.find(info.api_group + "/" + info.api_version);
    if (found != by_group_version.end()) return &delegates[found->second.delegate];
  }
  if (!info.is_resource_request) {
    // Of the prefixes that cover the path, the longest is the last one in the map that is not greater than the path.
    for (auto it = by_path.upper_bound(info.path); it != by_path.begin();) {
      --it;
      if (Covers(it->first, info.path)) return &delegates[it->second];
    }
  }
  return &delegates.front();
}

bool Routes::DescribesChain() const {
  return std::all_of(delegates.begin(), delegates.end(), [](const Delegate& one) {
    return one.kind != Delegate::Kind::kChain || one.description.has_value();
  });
}

bool Routes::KnowsResource(const meta::RequestInfo& info) const {
  return Lists({info.api_group, info.api_version},
               info.subresource.empty() ? info.resource : info.resource + "/" + info.subresource);
}

bool Routes::Lists(const meta::GroupVersion& version, const std::string& name) const {
  const auto served = by_group_version.find(version.group + "/" + version.version);
  if (served == by_group_version.end()) return false;
  return std::any_of(served->second.resources.begin(), served->second.resources.end(),
                     [&name](const std::shared_ptr<const ResourceNames>& names) { return names->contains(name); });
}

void RouteTable::Add(std::string name, std::shared_ptr<mesh::DelegateClient> client, Delegate::Kind kind) {
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
        [this, i](std::optional<mesh::Description> description) { Update(i, std::move(description)); }));
  }
}

void RouteTable::Stop() {
  subscriptions_.clear();
  const std::lock_guard one_at_a_time(change_mutex_);
  changed_ = nullptr;  // breaks a reference cycle: the callback may own the owner of this table
}

RoutesPtr RouteTable::Current() const {
  const std::lock_guard lock(mutex_);
  return routes_;
}

void RouteTable::SetExternal(std::vector<Delegate> externals) {
  const std::lock_guard one_at_a_time(change_mutex_);
  const RoutesPtr before = Current();
  auto next = std::make_shared<Routes>();
  next->delegates = before->delegates;
  std::erase_if(next->delegates, [](const Delegate& delegate) { return delegate.Foreign(); });
  for (Delegate& external : externals) next->delegates.push_back(std::move(external));
  Index(*next, *before);
  Publish(std::move(next));
}

void RouteTable::Publish(RoutesPtr next) {
  {
    const std::lock_guard lock(mutex_);
    routes_ = next;
  }
  if (changed_) changed_(next);
  std::vector<std::shared_ptr<Wakeup>> waiting;
  {
    const std::lock_guard lock(mutex_);
    published_ = std::move(next);
    waiting.swap(waiting_);
  }
  for (const std::shared_ptr<Wakeup>& one : waiting) one->Wake();
}

bool RouteTable::PublishedChain() const {
  const std::lock_guard lock(mutex_);
  return published_ && published_->DescribesChain();
}

Task<> RouteTable::WaitFor(std::shared_ptr<RouteTable> self, std::vector<meta::Gvr> resources, SteadyTime deadline) {
  for (;;) {
    const std::shared_ptr<Wakeup> wakeup = Wakeup::New();
    {
      const std::lock_guard lock(self->mutex_);
      std::erase_if(resources, [&self](const meta::Gvr& one) {
        return self->published_ && self->published_->Lists(one.Version(), one.resource);
      });
      if (resources.empty()) co_return;
      self->waiting_.push_back(wakeup);
    }
    const bool woken = co_await Wakeup::Wait(wakeup, deadline);
    if (!woken) break;
  }
  const std::lock_guard lock(self->mutex_);
  std::erase_if(self->waiting_, [](const std::shared_ptr<Wakeup>& one) { return one.use_count() == 1; });
}

void RouteTable::Update(std::size_t index, std::optional<mesh::Description> description) {
  const std::lock_guard one_at_a_time(change_mutex_);
  const RoutesPtr before = Current();
  auto next = std::make_shared<Routes>();
  next->delegates = before->delegates;
  Delegate& delegate = next->delegates[index];
  const bool was_up = delegate.up;
  delegate.up = description.has_value();
  if (description) {
    delegate.description = std::move(description);
    delegate.openapi_version = NewOpenApiVersion();
  }
  if (was_up != delegate.up) log::Info("{} is {}", delegate.name, delegate.up ? "up" : "down");
  Index(*next, *before);
  Publish(std::move(next));
}

}  // namespace apimesh::aggregator
