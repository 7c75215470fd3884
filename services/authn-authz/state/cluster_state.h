#pragma once

#include <boost/asio/any_io_executor.hpp>

#include "lib/mesh/watch/resource_watch.h"
#include "services/authn-authz/authorizers/node/node_graph.h"
#include "services/authn-authz/authorizers/rbac/rbac_index.h"
#include "services/authn-authz/state/revisions.h"
#include "services/authn-authz/state/token_object_cache.h"

namespace apimesh::authn_authz {

/// The state of the cluster that authn-authz needs, updated by watching core-api.
class ClusterState {
 public:
  struct Wanted {
    bool rbac = true;
    bool tokens = true;  // service accounts and the objects to which their tokens are bound
    bool bootstrap_tokens = false;
    bool node_graph = false;
    bool pod_certificates = false;                        // the graph has PodCertificateRequests
    LegacyTokenUses::Send report_legacy_token = nullptr;  // nullptr: uses of legacy tokens are not reported
  };
  ClusterState(std::shared_ptr<mesh::DelegateClient> core_api, Wanted wanted, std::shared_ptr<Revisions> revisions,
               const Clock& clock);
  ~ClusterState();

  void Start(boost::asio::any_io_executor executor);
  void Stop();

  std::shared_ptr<RbacIndex> Rbac() const { return rbac_; }
  std::shared_ptr<NodeGraph> Graph() const { return graph_; }
  std::shared_ptr<TokenObjects> Tokens() const { return tokens_; }
  /// Whether every initial list has been received.
  bool Loaded() const { return *loaded_; }
  /// Returns what is missing, for the readiness text; "" when Loaded().
  std::string WhyNotLoaded() const;
  /// `callback` runs once, when Loaded() becomes true. Must be set before Start().
  void OnLoaded(std::function<void()> callback) { on_loaded_ = std::move(callback); }

 private:
  void Add(mesh::ResourceWatch::Source source, std::unique_ptr<mesh::ObjectSink> sink);
  void Check();

  const std::shared_ptr<mesh::DelegateClient> core_api_;
  const Clock& clock_;
  const std::shared_ptr<Revisions> revisions_;
  const std::shared_ptr<std::atomic<bool>> loaded_ = std::make_shared<std::atomic<bool>>(false);
  const std::shared_ptr<RbacIndex> rbac_ = std::make_shared<RbacIndex>();
  const std::shared_ptr<NodeGraph> graph_ = std::make_shared<NodeGraph>();
  const std::shared_ptr<TokenObjectCache> tokens_;
  std::vector<std::shared_ptr<mesh::ResourceWatch>> watches_;
  std::function<void()> on_loaded_;
};

}  // namespace apimesh::authn_authz
