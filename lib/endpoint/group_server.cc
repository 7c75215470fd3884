#include "lib/endpoint/group_server.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include "lib/endpoint/discovery.h"
#include "lib/endpoint/request.h"
#include "lib/endpoint/routes.h"
#include "lib/endpoint/served_versions.h"
#include "lib/endpoint/verbs/connect.h"
#include "lib/service/chain.h"

namespace apimesh::endpoint {
namespace {

/// A resource, and all resources with the same objects.
struct RoutedResource {
  ServedResourcePtr served;
  std::shared_ptr<const ServedVersions> versions;
};

/// One group-version. Snapshots share those that have not changed: with a thousand CRDs, usually all but one are
/// unchanged, and only changes are sent to the aggregator. Immutable.
struct ServedPart {
  std::vector<ServedResourcePtr> served;  // what it was made from
  mesh::GroupVersionPtr description;
  std::size_t hash = 0;                                          // of the description
  std::map<std::string, RoutedResource, std::less<>> resources;  // by name
  std::set<std::string, std::less<>> kinds;
  bool custom = false;  // it has custom resources

  bool Describes(const ServedVersion& version) const {
    return served == version.resources && description->openapi_v3_hash == version.openapi_v3_hash &&
           description->group_priority_minimum == version.group_priority_minimum &&
           description->version_priority == version.version_priority;
  }
};
using ServedPartPtr = std::shared_ptr<const ServedPart>;
using ServedParts = std::map<meta::GroupVersion, ServedPartPtr>;

void Describe(const ServedVersion& version, bool storage_version_hash, ServedPart& part) {
  mesh::GroupVersionDescription made;
  made.group = version.version.group;
  made.version = version.version.version;
  made.group_priority_minimum = version.group_priority_minimum;
  made.version_priority = version.version_priority;
  made.resource_list = ResourceListJson(version.version, version.resources, storage_version_hash);
  made.aggregated_discovery = VersionDiscoveryJson(version.version, version.resources);
  made.openapi_v3_hash = version.openapi_v3_hash;
  for (const std::string* text : {&made.aggregated_discovery, &made.openapi_v3_hash, &made.group})
    part.hash = part.hash * 31 + std::hash<std::string>()(*text);
  part.description = std::make_shared<const mesh::GroupVersionDescription>(std::move(made));
}

/// Makes the parts of a new snapshot from those of the previous one.
class PartsBuilder {
 public:
  PartsBuilder(const ServedParts& before, const std::vector<ServedVersion>& versions, bool storage_version_hash)
      : before_(before), versions_(versions), storage_version_hash_(storage_version_hash) {
    FindChanges();
    for (const ServedVersion& version : versions_) {
      for (const ServedResourcePtr& resource : version.resources) {
        const auto found = changed_.find(IdentityOf(resource->resource));
        if (found != changed_.end()) found->second->Add(resource);
      }
    }
  }

  ServedPartPtr Make(const ServedVersion& version) const {
    const auto known = before_.find(version.version);
    const ServedPart* old = known == before_.end() ? nullptr : known->second.get();
    const bool same = old && old->Describes(version);
    const auto touched = [this](const ServedResourcePtr& one) { return changed_.contains(IdentityOf(one->resource)); };
    if (same && std::none_of(version.resources.begin(), version.resources.end(), touched)) return known->second;
    auto part = std::make_shared<ServedPart>();
    part->served = version.resources;
    if (same) {
      part->description = old->description;
      part->hash = old->hash;
    } else {
      Describe(version, storage_version_hash_, *part);
    }
    for (const ServedResourcePtr& resource : version.resources) {
      const std::string& name = resource->resource.plural;
      const auto changed = changed_.find(IdentityOf(resource->resource));
      part->resources[name] = {resource,
                               changed != changed_.end() ? changed->second : old->resources.at(name).versions};
      part->kinds.insert(resource->resource.gvk.kind);
      part->custom |= resource->custom;
    }
    return part;
  }

 private:
  void Change(const std::vector<ServedResourcePtr>& resources) {
    for (const ServedResourcePtr& one : resources) {
      std::shared_ptr<ServedVersions>& versions = changed_[IdentityOf(one->resource)];
      if (!versions) versions = std::make_shared<ServedVersions>();
    }
  }
  void FindChanges() {
    std::size_t found = 0;
    for (const ServedVersion& version : versions_) {
      const auto known = before_.find(version.version);
      found += known != before_.end();
      if (known != before_.end() && known->second->Describes(version)) continue;
      Change(version.resources);
      if (known != before_.end()) Change(known->second->served);
    }
    if (found == before_.size()) return;
    std::set<meta::GroupVersion> names;
    for (const ServedVersion& version : versions_) names.insert(version.version);
    for (const auto& [name, part] : before_) {
      if (!names.contains(name)) Change(part->served);
    }
  }

  const ServedParts& before_;
  const std::vector<ServedVersion>& versions_;
  const bool storage_version_hash_;
  /// The resources whose versions have changed, by IdentityOf().
  std::unordered_map<std::string, std::shared_ptr<ServedVersions>> changed_;
};

}  // namespace

/// The state of the server between two calls of Replace().
struct GroupServer::Snapshot {
  ServedParts versions;
  mesh::Description description;
  bool known = false;  // set by the first Replace()

  const ServedPart* FindVersion(const std::string& group, const std::string& version) const {
    const auto it = versions.find({group, version});
    return it == versions.end() ? nullptr : it->second.get();
  }
  const RoutedResource* Find(const meta::RequestInfo& info) const {
    const ServedPart* part = FindVersion(info.api_group, info.api_version);
    if (!part) return nullptr;
    const auto it = part->resources.find(info.resource);
    return it == part->resources.end() ? nullptr : &it->second;
  }
  bool KnowsKind(const meta::Gvk& kind) const {
    const ServedPart* part = FindVersion(kind.group, kind.version);
    return part && part->kinds.contains(kind.kind);
  }
  /// Returns the request to the resource that serves it, which takes over `request`. Returns nullptr, and leaves
  /// `request` unchanged, if the path does not belong to a resource of this server.
  std::shared_ptr<ResourceRequest> Route(const EnvironmentPtr& environment, mesh::Request& request) const;
  /// Returns the response to a resource request of a served version for which Route() finds no resource.
  mesh::Response NotFound(const mesh::Request& request) const;
  bool Serves(const meta::RequestInfo& info) const { return FindVersion(info.api_group, info.api_version); }
  /// Returns whether the path is below a group of which this server serves a version.
  bool IsBelowGroup(std::string_view path) const {
    constexpr std::string_view kGroups = "/apis/";
    if (!path.starts_with(kGroups)) return false;
    path.remove_prefix(kGroups.size());
    const std::string group(path.substr(0, path.find('/')));
    const auto first = versions.lower_bound({group, ""});
    return first != versions.end() && first->first.group == group;
  }
};

struct GroupServer::Listeners {
  std::mutex mutex;
  std::uint64_t next = 0;
  std::map<std::uint64_t, std::function<void(mesh::Description)>> callbacks;  // guarded by mutex

  void Notify(const mesh::Description& description) {
    const std::lock_guard lock(mutex);
    for (const auto& [id, callback] : callbacks) callback(description);
  }
};

namespace {

/// Parses "/api/v1" and "/apis/apps/v1", with or without a trailing slash.
std::optional<meta::GroupVersion> VersionOfPath(std::string_view path) {
  if (path.ends_with('/')) path.remove_suffix(1);
  if (path.starts_with("/api/")) {
    path.remove_prefix(5);
    return path.find('/') == std::string_view::npos ? std::optional<meta::GroupVersion>({"", std::string(path)})
                                                    : std::nullopt;
  }
  if (!path.starts_with("/apis/")) return std::nullopt;
  path.remove_prefix(6);
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos || path.find('/', slash + 1) != std::string_view::npos) return std::nullopt;
  return meta::GroupVersion{std::string(path.substr(0, slash)), std::string(path.substr(slash + 1))};
}

bool KnowsSubresource(const ServedResource& served, const std::string& name) {
  if (name.empty()) return true;
  for (const registry::Subresource& subresource : served.resource.subresources) {
    if (subresource.name == name) return true;
  }
  return false;
}

}  // namespace

std::shared_ptr<ResourceRequest> GroupServer::Snapshot::Route(const EnvironmentPtr& environment,
                                                              mesh::Request& request) const {
  if (!request.info.is_resource_request) return nullptr;
  const RoutedResource* found = Find(request.info);
  if (!found || !InScope(*found->served, request) || !KnowsSubresource(*found->served, request.info.subresource))
    return nullptr;
  auto routed = std::make_shared<ResourceRequest>(environment, found->served, std::move(request));
  routed->versions = found->versions;
  return routed;
}

mesh::Response GroupServer::Snapshot::NotFound(const mesh::Request& request) const {
  const meta::RequestInfo& info = request.info;
  const ServedPart* part = FindVersion(info.api_group, info.api_version);
  if (!part || !part->custom) return mesh::Response::Error(meta::GenericNotFound());
  const RoutedResource* found = Find(info);
  if (!found || !InScope(*found->served, request)) return service::PlainNotFound();
  return mesh::Response::Error(meta::NotFound(found->served->resource.GetGroupResource(), info.name));
}

GroupServer::GroupServer(GroupServerOptions options)
    : options_(std::move(options)),
      snapshot_(std::make_shared<const Snapshot>()),
      listeners_(std::make_shared<Listeners>()) {
  if (!options_.environment.sources.clock) throw std::logic_error("a GroupServer needs a clock");
  Environment environment = options_.environment;
  environment.knows_kind = [this](const meta::Gvk& kind) { return Current()->KnowsKind(kind); };
  environment_ = std::make_shared<const Environment>(std::move(environment));
}

GroupServer::~GroupServer() = default;

void ApplyGates(const features::FeatureGates& gates, Environment& environment) {
  environment.watch_list = gates.Enabled(features::kWatchList);
  environment.storage_version_hash = gates.Enabled(features::kStorageVersionHash);
}

std::shared_ptr<const GroupServer::Snapshot> GroupServer::Current() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

void GroupServer::Replace(std::vector<ServedVersion> versions) {
  auto snapshot = std::make_shared<Snapshot>();
  const std::shared_ptr<const Snapshot> before = Current();
  const PartsBuilder builder(before->versions, versions, environment_->storage_version_hash);
  std::size_t hash = 0;
  snapshot->description.group_versions.reserve(versions.size());
  for (const ServedVersion& version : versions) {
    // The versions are mostly sorted, so the end is a good hint.
    const auto added = snapshot->versions.emplace_hint(snapshot->versions.end(), version.version, nullptr);
    if (!added->second) added->second = builder.Make(version);
    hash = hash * 31 + added->second->hash;
    snapshot->description.group_versions.push_back(added->second->description);
  }
  snapshot->description.etag = fmt::format("{:016x}", hash);
  snapshot->description.paths = options_.advertised_paths;
  snapshot->known = true;
  {
    const std::lock_guard lock(mutex_);
    snapshot_ = snapshot;
  }
  listeners_->Notify(snapshot->description);
}

const PathHandler* GroupServer::FindPath(const std::string& path) const {
  const auto exact = options_.paths.find(path);
  if (exact != options_.paths.end()) return &exact->second;
  for (const auto& [prefix, handler] : options_.paths) {
    if (prefix.ends_with('/') && path.starts_with(prefix)) return &handler;
  }
  return nullptr;
}

bool GroupServer::IsForNext(const Snapshot& snapshot, const std::string& path) const {
  return options_.next && !(options_.owns_groups && snapshot.IsBelowGroup(path));
}

Task<mesh::Response> GroupServer::Call(mesh::Request&& request) {
  std::shared_ptr<const Snapshot> snapshot = Current();
  if (std::shared_ptr<ResourceRequest> routed = snapshot->Route(environment_, request)) return Serve(std::move(routed));
  return CallOther(std::move(snapshot), std::move(request));
}

Task<mesh::Response> GroupServer::CallOther(std::shared_ptr<const Snapshot> snapshot, mesh::Request request) {
  if (request.info.is_resource_request && snapshot->Serves(request.info)) co_return snapshot->NotFound(request);
  if (const PathHandler* handler = FindPath(request.path)) co_return co_await (*handler)(std::move(request));
  if (const std::optional<meta::GroupVersion> version = VersionOfPath(request.path)) {
    if (const ServedPart* part = snapshot->FindVersion(version->group, version->version))
      co_return mesh::Response::Json(200, part->description->resource_list);
  }
  if (IsForNext(*snapshot, request.path)) co_return co_await options_.next->Call(std::move(request));
  if (options_.owns_groups && snapshot->IsBelowGroup(request.path))
    co_return mesh::Response::Error(meta::GenericNotFound());
  co_return service::PlainNotFound();
}

Task<> GroupServer::Stream(mesh::Request request, mesh::ResponseStream& stream) {
  const std::shared_ptr<const Snapshot> snapshot = Current();
  if (std::shared_ptr<ResourceRequest> routed = snapshot->Route(environment_, request)) {
    co_await ServeStream(std::move(routed), stream);
    co_return;
  }
  const bool known = request.info.is_resource_request && snapshot->Serves(request.info);
  if (!known && !FindPath(request.path) && !VersionOfPath(request.path) && IsForNext(*snapshot, request.path)) {
    co_await options_.next->Stream(std::move(request), stream);
    co_return;
  }
  mesh::Response response = co_await Call(std::move(request));
  co_await stream.WriteComplete(std::move(response));
}

Task<> GroupServer::Connect(mesh::Request request, std::unique_ptr<mesh::ConnectStream> stream) {
  const std::shared_ptr<const Snapshot> snapshot = Current();
  if (std::shared_ptr<ResourceRequest> routed = snapshot->Route(environment_, request)) {
    co_await ServeConnect(std::move(routed), std::move(stream));
    co_return;
  }
  mesh::Response response = co_await Call(std::move(request));
  co_await stream->Answer(std::move(response));
}

std::shared_ptr<void> GroupServer::Describe(std::function<void(mesh::Description)> changed) {
  const std::shared_ptr<Listeners> listeners = listeners_;
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(listeners->mutex);
    id = listeners->next++;
    listeners->callbacks[id] = changed;
    const std::shared_ptr<const Snapshot> current = Current();
    if (current->known) changed(current->description);
  }
  return std::shared_ptr<void>(nullptr, [listeners, id](void*) {
    const std::lock_guard lock(listeners->mutex);
    listeners->callbacks.erase(id);
  });
}

}  // namespace apimesh::endpoint
