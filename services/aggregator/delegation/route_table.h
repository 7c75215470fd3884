#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lib/meta/request_info.h"
#include "lib/rpc/delegate.h"

namespace apimesh::aggregator {

/// A server and what is known of it.
struct Delegate {
  enum class Kind {
    kChain,     // a link of the server chain
    kOwn,       // this very process
    kExternal,  // outside the mesh, registered by an APIService
  };
  std::string name;
  std::shared_ptr<rpc::DelegateClient> client;
  std::optional<rpc::Description> description;  // kept when the server is lost: its paths stay its own
  bool up = false;
  Kind kind = Kind::kChain;
};

/// What all delegates serve, at one moment. Immutable.
struct Routes {
  std::vector<Delegate> delegates;  // in the order of the chain, then our own, then those outside the mesh
  std::map<std::string, std::size_t> by_group_version;  // "apps/v1", "/v1"
  std::map<std::string, std::size_t> by_path;           // non-resource path prefixes
  std::unordered_set<std::string> resources;            // "apps/v1/deployments/scale"
  /// The same by the APIResourceList that says so.
  std::unordered_map<std::string, std::shared_ptr<const std::vector<std::string>>> listed;

  /// The delegate that claims the request; else the head of the chain, which passes on what it does not know.
  /// Null only without any delegate.
  const Delegate* For(const meta::RequestInfo& info) const;
  /// Whether anyone serves the request's resource (and subresource), by discovery.
  bool KnowsResource(const meta::RequestInfo& info) const;
};
using RoutesPtr = std::shared_ptr<const Routes>;

/// Listens to the delegates' descriptions and keeps the routes. Thread-safe.
class RouteTable {
 public:
  /// In the order of the chain. The first to claim a group-version or a path has it.
  void Add(std::string name, std::shared_ptr<rpc::DelegateClient> client, Delegate::Kind kind = Delegate::Kind::kChain);
  /// Replaces the servers outside the mesh. They come before all others where both claim a group-version.
  void SetExternal(std::vector<Delegate> externals);
  /// Begins to listen. `changed` runs after each change of what is served, from any thread.
  void Start(std::function<void(RoutesPtr)> changed);
  void Stop();
  RoutesPtr Current() const;

 private:
  void Update(std::size_t index, std::optional<rpc::Description> description);

  mutable std::mutex mutex_;
  RoutesPtr routes_ = std::make_shared<Routes>();  // guarded by mutex_
  std::function<void(RoutesPtr)> changed_;
  std::mutex change_mutex_;  // one report at a time, in order
  std::vector<std::shared_ptr<void>> subscriptions_;
};

}  // namespace apimesh::aggregator
