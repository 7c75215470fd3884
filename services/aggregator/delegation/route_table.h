#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lib/base/async/wakeup.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/meta/gvk.h"
#include "lib/meta/request/request_info.h"

namespace apimesh::aggregator {

/// A server and its last known description.
struct Delegate {
  enum class Kind {
    kChain,      // a link of the server chain
    kShard,      // serves API groups that a link of the chain serves, too
    kOwn,        // this process
    kExternal,   // outside the mesh, named by an APIService
    kExtension,  // outside the mesh, named by an APIService, speaks the mesh's contract
  };
  std::string name;
  std::shared_ptr<mesh::DelegateClient> client;
  std::optional<mesh::Description> description;  // kept while the server is down, to route its paths to it
  bool up = false;
  Kind kind = Kind::kChain;
  /// Of an extension server: the resources whose watches clients may share.
  std::shared_ptr<const std::unordered_set<std::string>> shared_watches = nullptr;
  std::uint64_t openapi_version = 0;  // a NewOpenApiVersion() for each change of its OpenAPI documents

  /// Whether the server is not part of the mesh, and is trusted less.
  bool Foreign() const { return kind == Kind::kExternal || kind == Kind::kExtension; }
  /// Whether the server is another process of the mesh.
  bool OtherProcess() const { return kind == Kind::kChain || kind == Kind::kShard; }
};

/// Returns a number that no call has returned before in this process. Thread-safe.
std::uint64_t NewOpenApiVersion();

/// Whether the server at this position of the chain has the group-version because of definitions. The head has none.
bool IsFromDefinitions(std::size_t position, const mesh::GroupVersionDescription& gv);

/// The names in an APIResourceList: "deployments", "deployments/scale".
using ResourceNames = std::unordered_set<std::string>;

/// Who serves a group-version.
struct ServedGroupVersion {
  std::size_t delegate = 0;  // the position in Routes::delegates
  /// That of `common` if there is one, so that discovery does not change while groups are moved.
  mesh::GroupVersionPtr description;
  std::vector<std::shared_ptr<const ResourceNames>> resources;  // of all delegates that list the group-version
  /// If `delegate` is a shard: the server of the chain that serves the group-version, too. It also serves the resources
  /// that the shard does not list yet.
  std::optional<std::size_t> common = std::nullopt;
  std::shared_ptr<const ResourceNames> listed_by_shard = nullptr;
  /// A definition adds the group-version to a built-in group. Discovery lists it, but its resources cannot be reached,
  /// because all paths of the group belong to the built-in API.
  bool unreachable = false;
};

/// A snapshot of what all delegates serve. Immutable.
struct Routes {
  std::vector<Delegate> delegates;  // in the order of the chain, then this process, then servers outside the mesh
  std::map<std::string, ServedGroupVersion> by_group_version;  // "apps/v1", "/v1"
  std::map<std::string, std::size_t> by_path;                  // non-resource path prefixes
  /// The resource names of each description, so that the list of an unchanged one is not parsed again.
  std::unordered_map<mesh::GroupVersionPtr, std::shared_ptr<const ResourceNames>> listed;

  /// Returns the delegate that serves the request, or else the head of the chain, which forwards unknown requests.
  /// Returns nullptr if the group-version is unreachable, or if there are no delegates.
  const Delegate* For(const meta::RequestInfo& info) const;
  /// Whether every server of the chain has sent its description.
  bool DescribesChain() const;
  /// Whether the discovery of any delegate lists the request's resource and subresource.
  bool KnowsResource(const meta::RequestInfo& info) const;
  /// The same for "deployments" or "deployments/scale".
  bool Lists(const meta::GroupVersion& version, const std::string& name) const;
};
using RoutesPtr = std::shared_ptr<const Routes>;

/// A further server of API groups; see Delegate::Kind::kShard.
struct ShardServer {
  std::string name;
  std::shared_ptr<mesh::DelegateClient> client;
};

/// Subscribes to the descriptions of the delegates and maintains the routes. Thread-safe.
class RouteTable {
 public:
  /// Adds a delegate. Delegates must be added in the order of the chain; the first that claims a group-version or path
  /// serves it.
  void Add(std::string name, std::shared_ptr<mesh::DelegateClient> client,
           Delegate::Kind kind = Delegate::Kind::kChain);
  /// Replaces the servers outside the mesh. They take precedence over all other delegates for a group-version.
  void SetExternal(std::vector<Delegate> externals);
  /// Replaces the shards and subscribes to the new ones. A shard serves the group-versions that it describes, before
  /// the servers of the chain. If it is down, they are still its own; with an empty description, it gives them back. A
  /// shard whose client has changed keeps its description until the new client has one.
  void SetShards(std::vector<ShardServer> shards);
  /// Calls `moved` whenever a group-version gets another server, from any thread, until the handle is destroyed. It
  /// must not call the table.
  std::shared_ptr<void> OnMoved(std::function<void()> moved);
  /// Subscribes to the delegates. `changed` runs after each change of the routes, from any thread.
  void Start(std::function<void(RoutesPtr)> changed);
  void Stop();
  RoutesPtr Current() const;
  /// Whether the callback of Start() has run for routes in which every server of the chain is described.
  bool PublishedChain() const;
  /// Waits until the callback of Start() has run for routes that list all `resources`, or until `deadline`.
  static Task<> WaitFor(std::shared_ptr<RouteTable> self, std::vector<meta::Gvr> resources, SteadyTime deadline);

 private:
  void Update(std::size_t index, std::optional<mesh::Description> description);
  void UpdateShard(const std::string& name, const mesh::DelegateClient* client,
                   std::optional<mesh::Description> description);
  /// Sets the description of a delegate. `change_mutex_` must be locked.
  void Describe(std::size_t index, std::optional<mesh::Description> description);
  /// Makes `next` current and runs the callback. `change_mutex_` must be locked.
  void Publish(RoutesPtr next);

  mutable std::mutex mutex_;
  RoutesPtr routes_ = std::make_shared<Routes>();  // guarded by mutex_
  RoutesPtr published_;                            // guarded by mutex_; the callback has run for these
  std::vector<std::shared_ptr<Wakeup>> waiting_;   // guarded by mutex_; woken when published_ changes
  std::function<void(RoutesPtr)> changed_;
  std::mutex change_mutex_;  // serialises calls of changed_
  std::vector<std::shared_ptr<void>> subscriptions_;

  struct ShardSubscription {
    std::shared_ptr<mesh::DelegateClient> client;
    std::shared_ptr<void> handle;
  };
  std::mutex shards_mutex_;                          // locked before change_mutex_
  std::map<std::string, ShardSubscription> shards_;  // guarded by shards_mutex_

  struct Movements {
    std::mutex mutex;
    std::map<std::uint64_t, std::function<void()>> callbacks;  // guarded by mutex
    std::uint64_t next = 0;                                    // guarded by mutex
  };
  const std::shared_ptr<Movements> movements_ = std::make_shared<Movements>();
};

}  // namespace apimesh::aggregator
