#pragma once

// Internal: includes gRPC, so only .cc files may include this.

#include <boost/asio/any_io_executor.hpp>

#include "proto/mesh/v1/authz.grpc.pb.h"
#include "services/authn-authz/authorizers/authorizer.h"
#include "services/authn-authz/rpc/invalidation_streams.h"

namespace apimesh::authn_authz {

/// Authorize, Rules and Invalidations over gRPC. What needs no waiting is answered on gRPC's own thread.
class AuthzService final : public mesh::v1::Authorizer::CallbackService {
 public:
  AuthzService(std::shared_ptr<Authorizer> authorizer, std::shared_ptr<Revisions> revisions,
               boost::asio::any_io_executor executor);

  grpc::ServerUnaryReactor* Authorize(grpc::CallbackServerContext* context, const mesh::v1::AuthorizeRequest* request,
                                      mesh::v1::AuthorizeResponse* response) override;
  grpc::ServerUnaryReactor* Rules(grpc::CallbackServerContext* context, const mesh::v1::RulesRequest* request,
                                  mesh::v1::RulesResponse* response) override;
  grpc::ServerWriteReactor<mesh::v1::Invalidation>* Invalidations(grpc::CallbackServerContext* context,
                                                                  const mesh::v1::InvalidationsRequest* request) override;

 private:
  static Task<> AnswerLater(std::shared_ptr<Authorizer> authorizer, std::vector<AttributesPtr> questions,
                            mesh::v1::AuthorizeResponse* response);

  const std::shared_ptr<Authorizer> authorizer_;
  const std::shared_ptr<Revisions> revisions_;
  const boost::asio::any_io_executor executor_;
  const std::shared_ptr<InvalidationStreams> streams_;
};

}  // namespace apimesh::authn_authz
