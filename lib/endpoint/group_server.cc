#include "lib/endpoint/group_server.h"

#include <fmt/format.h>

#include <set>

#include "lib/endpoint/connect.h"
#include "lib/endpoint/discovery.h"
#include "lib/endpoint/request.h"
#include "lib/endpoint/routes.h"

namespace apimesh::endpoint {
namespace {

/// What discovery says of a version, and of which resources.
struct Written {
  std::vector<ServedResourcePtr> resources;
  std::shared_ptr<const std::string> resource_list, discovery;
};

Written Write(const ServedVersion& served) {
  return {served.resources, std::make_shared<const std::string>(ResourceListJson(served.version, served.resources)),
          std::make_shared<const std::string>(VersionDiscoveryJson(served.version, served.resources))};
}

}  // namespace

/// Everything served at one time.
struct GroupServer::Snapshot {
  std::map<meta::Gvr, ServedResourcePtr> resources;
  std::map<meta::GroupVersion, Written> versions;
  std::set<meta::GroupVersion> custom;              // versions of custom resources
  std::set<meta::Gvk> kinds;
  rpc::Description description;

  ServedResourcePtr Find(const meta::RequestInfo& info) const {
    const auto it = resources.find({info.api_group, info.api_version, info.resource});
    return it == resources.end() ? nullptr : it->second;
  }
  /// The resource that serves the request; nullptr if its path is none of a resource here.
  ServedResourcePtr Route(const rpc::Request& request) const;
  /// The answer to a resource request that Route() finds nothing for, in a version that is served.
  rpc::Response NotFound(const rpc::Request& request) const;
  bool Serves(const meta::RequestInfo& info) const { return versions.contains({info.api_group, info.api_version}); }
};

struct GroupServer::Listeners {
  std::mutex mutex;
  std::uint64_t next = 0;
  std::map<std::uint64_t, std::function<void(rpc::Description)>> callbacks;  // guarded by mutex

  void Tell(const rpc::Description& description) {
    const std::lock_guard lock(mutex);
    for (const auto& [id, callback] : callbacks) callback(description);
  }
};

namespace {

rpc::Response PlainNotFound() {
  rpc::Response response;
  response.code = 404;
  response.headers.emplace_back("content-type", "text/plain; charset=utf-8");
  response.headers.emplace_back("x-content-type-options", "nosniff");
  response.body.emplace_back("404 page not found\n");
  return response;
}

/// "/api/v1" and "/apis/apps/v1", with or without a slash at the end.
std::optional<meta::GroupVersion> VersionOfPath(std::string_view path) {
  if (path.ends_with('/')) path.remove_suffix(1);
  if (path.starts_with("/api/")) {
    path.remove_prefix(5);
    return path.find('/') == std::string_view::npos ? std::optional<meta::GroupVersion>({"", std::string(path)}) : std::nullopt;
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

ServedResourcePtr GroupServer::Snapshot::Route(const rpc::Request& request) const {
  if (!request.info.is_resource_request) return nullptr;
  ServedResourcePtr served = Find(request.info);
  const bool found = served && InScope(*served, request) && KnowsSubresource(*served, request.info.subresource);
  return found ? served : nullptr;
}

rpc::Response GroupServer::Snapshot::NotFound(const rpc::Request& request) const {
  const meta::RequestInfo& info = request.info;
  if (!custom.contains({info.api_group, info.api_version})) return rpc::Response::Error(meta::GenericNotFound());
  const ServedResourcePtr served = Find(info);
  if (!served || !InScope(*served, request)) return PlainNotFound();
  return rpc::Response::Error(meta::NotFound(served->resource.GetGroupResource(), info.name));
}

GroupServer::GroupServer(GroupServerOptions options)
    : options_(std::move(options)), snapshot_(std::make_shared<const Snapshot>()), listeners_(std::make_shared<Listeners>()) {
  Environment environment = options_.environment;
  environment.knows_kind = [this](const meta::Gvk& kind) { return Current()->kinds.contains(kind); };
  environment_ = std::make_shared<const Environment>(std::move(environment));
}

GroupServer::~GroupServer() = default;

std::shared_ptr<const GroupServer::Snapshot> GroupServer::Current() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

void GroupServer::Replace(std::vector<ServedVersion> versions) {
  auto snapshot = std::make_shared<Snapshot>();
  const std::shared_ptr<const Snapshot> before = Current();
  std::size_t hash = 0;
  for (const ServedVersion& served : versions) {
    rpc::GroupVersionDescription description;
    description.group = served.version.group;
    description.version = served.version.version;
    description.group_priority_minimum = served.group_priority_minimum;
    description.version_priority = served.version_priority;
    // With a thousand definitions, all but one are as before.
    const auto known = before->versions.find(served.version);
    const bool same = known != before->versions.end() && known->second.resources == served.resources;
    const Written& written = snapshot->versions[served.version] = same ? known->second : Write(served);
    description.resource_list = *written.resource_list;
    description.aggregated_discovery = *written.discovery;
    description.openapi_v3_hash = served.openapi_v3_hash;
    for (const std::string* part : {&description.aggregated_discovery, &description.openapi_v3_hash, &description.group}) {
      hash = hash * 31 + std::hash<std::string>()(*part);
    }
    snapshot->description.group_versions.push_back(std::move(description));
    for (const ServedResourcePtr& resource : served.resources) {
      snapshot->resources[resource->resource.GetGvr()] = resource;
      snapshot->kinds.insert(resource->resource.gvk);
      if (resource->custom) snapshot->custom.insert(served.version);
    }
  }
  snapshot->description.etag = fmt::format("{:016x}", hash);
  snapshot->description.paths = options_.advertised_paths;
  {
    const std::lock_guard lock(mutex_);
    snapshot_ = snapshot;
  }
  listeners_->Tell(snapshot->description);
}

const PathHandler* GroupServer::FindPath(const std::string& path) const {
  const auto exact = options_.paths.find(path);
  if (exact != options_.paths.end()) return &exact->second;
  for (const auto& [prefix, handler] : options_.paths) {
    if (prefix.ends_with('/') && path.starts_with(prefix)) return &handler;
  }
  return nullptr;
}

Task<rpc::Response> GroupServer::Call(rpc::Request&& request) {
  std::shared_ptr<const Snapshot> snapshot = Current();
  if (ServedResourcePtr served = snapshot->Route(request)) {
    return Serve(std::make_shared<ResourceRequest>(environment_, std::move(served), std::move(request)));
  }
  return CallOther(std::move(snapshot), std::move(request));
}

Task<rpc::Response> GroupServer::CallOther(std::shared_ptr<const Snapshot> snapshot, rpc::Request request) {
  if (request.info.is_resource_request && snapshot->Serves(request.info)) co_return snapshot->NotFound(request);
  if (const PathHandler* handler = FindPath(request.path)) co_return co_await (*handler)(std::move(request));
  if (const std::optional<meta::GroupVersion> version = VersionOfPath(request.path)) {
    const auto written = snapshot->versions.find(*version);
    if (written != snapshot->versions.end()) co_return rpc::Response::Json(200, *written->second.resource_list);
  }
  if (options_.next) co_return co_await options_.next->Call(std::move(request));
  co_return PlainNotFound();
}

Task<> GroupServer::Stream(rpc::Request request, rpc::ResponseStream& stream) {
  const std::shared_ptr<const Snapshot> snapshot = Current();
  if (ServedResourcePtr served = snapshot->Route(request)) {
    auto resource_request = std::make_shared<ResourceRequest>(environment_, std::move(served), std::move(request));
    co_await ServeStream(std::move(resource_request), stream);
    co_return;
  }
  const bool known = request.info.is_resource_request && snapshot->Serves(request.info);
  if (!known && !FindPath(request.path) && !VersionOfPath(request.path) && options_.next) {
    co_await options_.next->Stream(std::move(request), stream);
    co_return;
  }
  rpc::Response response = co_await Call(std::move(request));
  co_await stream.WriteWhole(std::move(response));
}

Task<> GroupServer::Connect(rpc::Request request, std::unique_ptr<rpc::ConnectStream> stream) {
  const std::shared_ptr<const Snapshot> snapshot = Current();
  if (ServedResourcePtr served = snapshot->Route(request)) {
    auto resource_request = std::make_shared<ResourceRequest>(environment_, std::move(served), std::move(request));
    co_await ServeConnect(std::move(resource_request), std::move(stream));
    co_return;
  }
  rpc::Response response = co_await Call(std::move(request));
  co_await stream->Answer(std::move(response));
}

std::shared_ptr<void> GroupServer::Describe(std::function<void(rpc::Description)> changed) {
  const std::shared_ptr<Listeners> listeners = listeners_;
  std::uint64_t id = 0;
  {
    const std::lock_guard lock(listeners->mutex);
    id = listeners->next++;
    listeners->callbacks[id] = changed;
    changed(Current()->description);
  }
  return std::shared_ptr<void>(nullptr, [listeners, id](void*) {
    const std::lock_guard lock(listeners->mutex);
    listeners->callbacks.erase(id);
  });
}

}  // namespace apimesh::endpoint
