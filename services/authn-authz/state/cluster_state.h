#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "services/authn-authz/state/resource_watch.h"
#include "services/authn-authz/state/revisions.h"
#include "services/authn-authz/state/token_object_cache.h"
#include "services/authn-authz/authorizers/node/node_graph.h"
#include "services/authn-authz/authorizers/rbac/rbac_index.h"

namespace apimesh::authn_authz {

/// Everything authn-authz knows of the cluster, kept up to date by watching core-api.
class ClusterState {
 public:
  struct Wanted {
    bool rbac = true;
    bool tokens = true;            // service accounts and what their tokens are bound to
    bool bootstrap_tokens = false;
    bool node_graph = false;
  };
  ClusterState(std::shared_ptr<rpc::DelegateClient> core_api, Wanted wanted, std::shared_ptr<Revisions> revisions,
               const Clock& clock);
  ~ClusterState();

  void Start(boost::asio::any_io_executor executor);
  void Stop();

  std::shared_ptr<RbacIndex> Rbac() const { return rbac_; }
  std::shared_ptr<NodeGraph> Graph() const { return graph_; }
  std::shared_ptr<TokenObjects> Tokens() const { return tokens_; }
  /// Every list has been seen once.
  bool Loaded() const { return *loaded_; }
  /// What is missing, for the readiness text; "" when Loaded().
  std::string WhyNotLoaded() const;
  /// Runs once, when Loaded() becomes true; set before Start().
  void OnLoaded(std::function<void()> callback) { on_loaded_ = std::move(callback); }

 private:
  void Add(ResourceWatch::Source source, std::unique_ptr<ObjectSink> sink);
  void Check();

  const std::shared_ptr<rpc::DelegateClient> core_api_;
  const std::shared_ptr<Revisions> revisions_;
  const std::shared_ptr<std::atomic<bool>> loaded_ = std::make_shared<std::atomic<bool>>(false);
  const std::shared_ptr<RbacIndex> rbac_ = std::make_shared<RbacIndex>();
  const std::shared_ptr<NodeGraph> graph_ = std::make_shared<NodeGraph>();
  const std::shared_ptr<TokenObjectCache> tokens_;
  std::vector<std::shared_ptr<ResourceWatch>> watches_;
  std::function<void()> on_loaded_;
};

}  // namespace apimesh::authn_authz
