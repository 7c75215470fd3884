#include "services/aggregator/delegation/route_table.h"

#include <algorithm>
#include <atomic>

#include "lib/base/log.h"

namespace apimesh::aggregator {
namespace {

constexpr const char* kDefinitionsGroup = "apiextensions.k8s.io";

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

/// The order in which delegates claim group-versions.
int Precedence(const Delegate& delegate) {
  if (delegate.Foreign()) return 0;
  return delegate.kind == Delegate::Kind::kShard ? 1 : 2;
}

/// Returns the groups of the servers themselves, not of definitions. They belong to `delegates`.
std::unordered_set<std::string_view> BuiltInGroups(const std::vector<Delegate>& delegates) {
  std::unordered_set<std::string_view> groups = {kDefinitionsGroup};
  for (std::size_t i = 0; i < delegates.size(); ++i) {
    if (!delegates[i].description || (i > 0 && delegates[i].kind != Delegate::Kind::kOwn)) continue;
    for (const mesh::GroupVersionPtr& gv : delegates[i].description->group_versions) groups.insert(gv->group);
  }
  return groups;
}

/// Adds a group-version of the delegate at `index`. Delegates are added in the order of their precedence.
void AddVersion(Routes& routes, std::size_t index, const mesh::GroupVersionPtr& gv,
                std::shared_ptr<const ResourceNames> names) {
  ServedGroupVersion& served = routes.by_group_version[gv->group + "/" + gv->version];
  const Delegate& delegate = routes.delegates[index];
  if (!served.description) {
    served.delegate = index;
    served.description = gv;
    if (delegate.kind == Delegate::Kind::kShard) served.listed_by_shard = names;
  } else if (served.listed_by_shard && !served.common && delegate.kind != Delegate::Kind::kShard) {
    served.common = index;
    served.description = gv;
  }
  served.resources.push_back(std::move(names));
}

/// Makes the indexes of new routes. `before` has the lists that need not be parsed again.
void Index(Routes& routes, const Routes& before) {
  routes.listed.reserve(before.listed.size() + 1);
  const std::unordered_set<std::string_view> built_in = BuiltInGroups(routes.delegates);
  struct Added {
    std::size_t delegate;
    mesh::GroupVersionPtr gv;
    std::shared_ptr<const ResourceNames> names;
  };
  std::vector<Added> added;  // by definitions, to built-in groups
  for (const int precedence : {0, 1, 2}) {
    for (std::size_t i = 0; i < routes.delegates.size(); ++i) {
      const auto& description = routes.delegates[i].description;
      if (!description || Precedence(routes.delegates[i]) != precedence) continue;
      for (const mesh::GroupVersionPtr& gv : description->group_versions) {
        const auto known = before.listed.find(gv);
        const auto names =
            known != before.listed.end() ? known->second : std::make_shared<const ResourceNames>(ResourcesOf(*gv));
        routes.listed.emplace(gv, names);
        if (routes.delegates[i].kind == Delegate::Kind::kChain && IsFromDefinitions(i, *gv) &&
            built_in.contains(gv->group)) {
          added.push_back({i, gv, names});
        } else {
          AddVersion(routes, i, gv, names);
        }
      }
      for (const std::string& path : description->paths) routes.by_path.emplace(path, i);
    }
  }
  for (Added& one : added) {
    AddVersion(routes, one.delegate, one.gv, std::move(one.names));
    ServedGroupVersion& served = routes.by_group_version[one.gv->group + "/" + one.gv->version];
    if (served.description == one.gv) served.unreachable = true;  // otherwise another server has the version, too
  }
}

bool HasShards(const Routes& routes) {
  return std::any_of(routes.delegates.begin(), routes.delegates.end(),
                     [](const Delegate& one) { return one.kind == Delegate::Kind::kShard; });
}

/// Whether a group-version has another server than before.
bool Moves(const Routes& before, const Routes& after) {
  if (!HasShards(before) && !HasShards(after)) return false;
  return std::any_of(after.by_group_version.begin(), after.by_group_version.end(), [&](const auto& one) {
    const auto old = before.by_group_version.find(one.first);
    return old != before.by_group_version.end() &&
           before.delegates[old->second.delegate].client != after.delegates[one.second.delegate].client;
  });
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

bool IsFromDefinitions(std::size_t position, const mesh::GroupVersionDescription& gv) {
  return position > 0 && !(gv.group == kDefinitionsGroup && gv.version == "v1");
}

const Delegate* Routes::For(const meta::RequestInfo& info) const {
  if (delegates.empty()) return nullptr;
  if (!info.api_version.empty()) {
    const auto found = by_group_version.find(info.api_group + "/" + info.api_version);
    if (found != by_group_version.end()) {
      const ServedGroupVersion& served = found->second;
      // Other paths that name the group-version are those of its OpenAPI documents, which are served.
      if (served.unreachable && info.is_resource_request) return nullptr;
      const bool unlisted = served.common && !info.resource.empty() && !served.listed_by_shard->contains(info.resource);
      return &delegates[unlisted ? *served.common : served.delegate];
    }
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
  std::unique_lock shards_lock(shards_mutex_);
  const auto shards = std::exchange(shards_, {});
  shards_lock.unlock();
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

void RouteTable::SetShards(std::vector<ShardServer> shards) {
  std::map<std::string, ShardSubscription> ended;  // destroyed without locks: the subscription may be in a callback
  std::vector<ShardServer> added;
  {
    const std::lock_guard shards_lock(shards_mutex_);
    std::map<std::string, ShardSubscription> next;
    for (const ShardServer& shard : shards) {
      const auto known = shards_.find(shard.name);
      if (known != shards_.end() && known->second.client == shard.client) {
        next.insert(shards_.extract(known));
      } else {
        next[shard.name] = {shard.client, nullptr};
        added.push_back(shard);
      }
    }
    ended = std::exchange(shards_, std::move(next));
    const std::lock_guard one_at_a_time(change_mutex_);
    const RoutesPtr before = Current();
    auto changed = std::make_shared<Routes>();
    std::map<std::string, Delegate> old;
    for (const Delegate& delegate : before->delegates) {
      if (delegate.kind == Delegate::Kind::kShard) {
        old[delegate.name] = delegate;
      } else {
        changed->delegates.push_back(delegate);
      }
    }
    for (const ShardServer& shard : shards) {
      Delegate delegate = old[shard.name];
      if (delegate.client != shard.client) delegate.up = false;
      delegate.name = shard.name;
      delegate.client = shard.client;
      delegate.kind = Delegate::Kind::kShard;
      changed->delegates.push_back(std::move(delegate));
    }
    Index(*changed, *before);
    Publish(std::move(changed));
  }
  for (const ShardServer& shard : added) {
    auto handle = shard.client->Describe(
        [this, name = shard.name, client = shard.client.get()](std::optional<mesh::Description> description) {
          UpdateShard(name, client, std::move(description));
        });
    const std::lock_guard shards_lock(shards_mutex_);
    const auto known = shards_.find(shard.name);
    if (known != shards_.end() && known->second.client == shard.client) known->second.handle = std::move(handle);
  }
}

std::shared_ptr<void> RouteTable::OnMoved(std::function<void()> moved) {
  const std::lock_guard lock(movements_->mutex);
  const std::uint64_t number = movements_->next++;
  movements_->callbacks[number] = std::move(moved);
  return std::shared_ptr<void>(nullptr, [movements = movements_, number](void*) {
    const std::lock_guard erase_lock(movements->mutex);
    movements->callbacks.erase(number);
  });
}

void RouteTable::Publish(RoutesPtr next) {
  bool moves = false;
  {
    const std::lock_guard lock(mutex_);
    moves = Moves(*routes_, *next);
    routes_ = next;
  }
  if (moves) {
    const std::lock_guard lock(movements_->mutex);
    for (const auto& [number, moved] : movements_->callbacks) moved();
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
  Describe(index, std::move(description));
}

void RouteTable::UpdateShard(const std::string& name, const mesh::DelegateClient* client,
                             std::optional<mesh::Description> description) {
  const std::lock_guard one_at_a_time(change_mutex_);
  const RoutesPtr current = Current();
  const std::vector<Delegate>& delegates = current->delegates;
  const auto found = std::find_if(delegates.begin(), delegates.end(), [&](const Delegate& one) {
    return one.kind == Delegate::Kind::kShard && one.name == name && one.client.get() == client;
  });
  if (found != delegates.end()) Describe(static_cast<std::size_t>(found - delegates.begin()), std::move(description));
}

void RouteTable::Describe(std::size_t index, std::optional<mesh::Description> description) {
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
