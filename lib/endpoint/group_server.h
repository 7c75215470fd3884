#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/endpoint/served_resource.h"
#include "lib/rpc/delegate.h"

namespace apimesh::endpoint {

/// A group-version and what is served of it.
struct ServedVersion {
  meta::GroupVersion version;
  int group_priority_minimum = 0;
  int version_priority = 0;
  std::vector<ServedResourcePtr> resources;
  std::string openapi_v3_hash;
};

/// Answers a path that is no resource (health, OpenAPI).
using PathHandler = std::function<Task<rpc::Response>(rpc::Request request)>;

struct GroupServerOptions {
  Environment environment;
  /// Who gets the paths nobody here knows; nullptr: 404.
  std::shared_ptr<rpc::DelegateClient> next;
  /// By path: exact, or a prefix if it ends with a slash.
  std::map<std::string, PathHandler> paths;
  /// Those of `paths` that the aggregator should send here.
  std::vector<std::string> advertised_paths;
};

/// A link of the server chain that serves resources. What it serves can change at any time: requests that run keep what
/// they began with. Thread-safe.
class GroupServer final : public rpc::DelegateHandler {
 public:
  explicit GroupServer(GroupServerOptions options);
  ~GroupServer() override;

  /// Replaces everything that is served and tells all who listen to Describe.
  void Replace(std::vector<ServedVersion> versions);

  Task<rpc::Response> Call(rpc::Request&& request) override;
  Task<> Stream(rpc::Request request, rpc::ResponseStream& stream) override;
  Task<> Connect(rpc::Request request, std::unique_ptr<rpc::ConnectStream> stream) override;
  std::shared_ptr<void> Describe(std::function<void(rpc::Description)> changed) override;

 private:
  struct Snapshot;
  struct Listeners;
  std::shared_ptr<const Snapshot> Current() const;
  const PathHandler* FindPath(const std::string& path) const;
  /// Everything but what is served from a store.
  Task<rpc::Response> CallOther(std::shared_ptr<const Snapshot> snapshot, rpc::Request request);

  GroupServerOptions options_;
  EnvironmentPtr environment_;
  mutable std::mutex mutex_;
  std::shared_ptr<const Snapshot> snapshot_;  // guarded by mutex_
  std::shared_ptr<Listeners> listeners_;
};

}  // namespace apimesh::endpoint
