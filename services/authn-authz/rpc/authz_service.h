#pragma once

// Internal: includes protobuf, so only .cc files may include this.

#include <boost/asio/any_io_executor.hpp>

#include "lib/grpc/server_call.h"
#include "lib/service/metrics.h"
#include "proto/mesh/v1/authz.pb.h"
#include "services/authn-authz/authorizers/authorizer.h"
#include "services/authn-authz/rpc/invalidation_streams.h"

namespace apimesh::authn_authz {

/// Serves Authorize, Rules, Metrics, Diagnose and Invalidations over gRPC.
class AuthzService {
 public:
  /// `loaded` returns whether answers are based on the complete state of the cluster. It must be thread-safe.
  AuthzService(std::shared_ptr<Authorizer> authorizer, std::shared_ptr<Revisions> revisions,
               std::function<bool()> loaded, boost::asio::any_io_executor executor, const service::Metrics& metrics);
  /// The service must outlive the calls.
  void AddTo(grpc::Methods& methods);

 private:
  Task<mesh::v1::AuthorizeResponse> Authorize(mesh::v1::AuthorizeRequest request);
  Task<mesh::v1::RulesResponse> Rules(mesh::v1::RulesRequest request);
  Task<mesh::v1::MetricsResponse> Metrics(mesh::v1::MetricsRequest request);
  Task<mesh::v1::DiagnoseResponse> Diagnose(mesh::v1::DiagnoseRequest request);

  const std::shared_ptr<Authorizer> authorizer_;
  const std::shared_ptr<Revisions> revisions_;
  const std::shared_ptr<InvalidationStreams> streams_;
  const service::Metrics& metrics_;
};

}  // namespace apimesh::authn_authz
