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
};

/// Returns a number that no call has returned before in this process. Thread-safe.
std::uint64_t NewOpenApiVersion();

/// The names in an APIResourceList: "deployments", "deployments/scale".
using ResourceNames = std::unordered_set<std::string>;

/// Who serves a group-version.
struct ServedGroupVersion {
  std::size_t delegate = 0;  // the position in Routes::delegates
  mesh::GroupVersionPtr description;
  std::vector<std::shared_ptr<const ResourceNames>> resources;  // of all delegates that list the group-version
};

/// A snapshot of what all delegates serve. Immutable.
struct Routes {
  std::vector<Delegate> delegates;  // in the order of the chain, then this process, then servers outside the mesh
  std::map<std::string, ServedGroupVersion> by_group_version;  // "apps/v1", "/v1"
  std::map<std::string, std::size_t> by_path;                  // non-resource path prefixes
  /// The resource names of each description, so that the list of an unchanged one is not parsed again.
  std::unordered_map<mesh::GroupVersionPtr, std::shared_ptr<const ResourceNames>> listed;

  /// Returns the delegate that serves the request, or else the head of the chain, which forwards unknown requests.
  /// Returns nullptr only if there are no delegates.
  const Delegate* For(const meta::RequestInfo& info) const;
  /// Whether every server of the chain has sent its description.
  bool DescribesChain() const;
  /// Whether the discovery of any delegate lists the request's resource and subresource.
  bool KnowsResource(const meta::RequestInfo& info) const;
  /// The same for "deployments" or "deployments/scale".
  bool Lists(const meta::GroupVersion& version, const std::string& name) const;
};
using RoutesPtr = std::shared_ptr<const Routes>;

/// Subscribes to the descriptions of the delegates and maintains the routes. Thread-safe.
class RouteTable {
 public:
  /// Adds a delegate. Delegates must be added in the order of the chain; the first that claims a group-version or path
  /// serves it.
  void Add(std::string name, std::shared_ptr<mesh::DelegateClient> client,
           Delegate::Kind kind = Delegate::Kind::kChain);
  /// Replaces the servers outside the mesh. They take precedence over all other delegates for a group-version.
  void SetExternal(std::vector<Delegate> externals);
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
  /// Makes `next` current and runs the callback. `change_mutex_` must be locked.
  void Publish(RoutesPtr next);

  mutable std::mutex mutex_;
  RoutesPtr routes_ = std::make_shared<Routes>();  // guarded by mutex_
  RoutesPtr published_;                            // guarded by mutex_; the callback has run for these
  std::vector<std::shared_ptr<Wakeup>> waiting_;   // guarded by mutex_; woken when published_ changes
  std::function<void(RoutesPtr)> changed_;
  std::mutex change_mutex_;  // serialises calls of changed_
  std::vector<std::shared_ptr<void>> subscriptions_;
};

}  // namespace apimesh::aggregator
