#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/endpoint/served_resource.h"
#include "lib/features/feature_gates.h"
#include "lib/mesh/delegate/delegate.h"

namespace apimesh::endpoint {

/// A group-version and the resources that are served in it.
struct ServedVersion {
  meta::GroupVersion version;
  int group_priority_minimum = 0;
  int version_priority = 0;
  std::vector<ServedResourcePtr> resources;
  std::string openapi_v3_hash;
};

/// Serves a path that is not a resource path (health, OpenAPI).
using PathHandler = std::function<Task<mesh::Response>(mesh::Request request)>;

/// Sets the members that depend on feature gates.
void ApplyGates(const features::FeatureGates& gates, Environment& environment);

struct GroupServerOptions {
  Environment environment;
  /// Receives the requests whose path this server does not know. If it is nullptr, they are answered with 404.
  std::shared_ptr<mesh::DelegateClient> next;
  /// Whether `next` receives no request below a group of which this server serves a version, because all paths of the
  /// group belong to this server.
  bool owns_groups = false;
  /// Handlers by path. A path that ends with a slash matches as a prefix, any other path matches exactly.
  std::map<std::string, PathHandler> paths;
  /// The subset of `paths` that the aggregator routes to this server.
  std::vector<std::string> advertised_paths;
};

/// A link of the server chain that serves resources. The set of served resources can change at any time; a running
/// request continues with the set that was current when it started. Thread-safe.
class GroupServer final : public mesh::DelegateHandler {
 public:
  explicit GroupServer(GroupServerOptions options);
  ~GroupServer() override;

  /// Replaces all served versions and notifies every listener that was registered with Describe().
  void Replace(std::vector<ServedVersion> versions);

  Task<mesh::Response> Call(mesh::Request&& request) override;
  Task<> Stream(mesh::Request request, mesh::ResponseStream& stream) override;
  Task<> Connect(mesh::Request request, std::unique_ptr<mesh::ConnectStream> stream) override;
  std::shared_ptr<void> Describe(std::function<void(mesh::Description)> changed) override;

 private:
  struct Snapshot;
  struct Listeners;
  std::shared_ptr<const Snapshot> Current() const;
  const PathHandler* FindPath(const std::string& path) const;
  bool IsForNext(const Snapshot& snapshot, const std::string& path) const;
  /// Answers a request that Route() finds no resource for: 404, a path handler, a resource list, or the next server.
  Task<mesh::Response> CallOther(std::shared_ptr<const Snapshot> snapshot, mesh::Request request);

  GroupServerOptions options_;
  EnvironmentPtr environment_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Snapshot> snapshot_;  // guarded by mutex_
  std::shared_ptr<Listeners> listeners_;
};

}  // namespace apimesh::endpoint
