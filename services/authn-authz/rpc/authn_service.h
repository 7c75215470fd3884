#pragma once

// Internal: includes gRPC, so only .cc files may include this.

#include <boost/asio/any_io_executor.hpp>

#include "proto/mesh/v1/authn.grpc.pb.h"
#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/state/revisions.h"

namespace apimesh::authn_authz {

/// Authenticate over gRPC. A refusal is an answer, not a gRPC error; its reason goes to the log and to the caller's.
class AuthnService final : public mesh::v1::Authenticator::CallbackService {
 public:
  /// `longest_reuse`: how long the edge may keep a user, at most.
  AuthnService(std::shared_ptr<Authenticator> authenticator, std::vector<std::string> api_audiences,
               std::shared_ptr<Revisions> revisions, boost::asio::any_io_executor executor, const Clock& clock);

  grpc::ServerUnaryReactor* Authenticate(grpc::CallbackServerContext* context, const mesh::v1::AuthenticateRequest* request,
                                         mesh::v1::AuthenticateResponse* response) override;

 private:
  static Task<> Answer(AuthnService* service, CredentialsPtr credentials, std::string audit_id,
                       mesh::v1::AuthenticateResponse* response);

  const std::shared_ptr<Authenticator> authenticator_;
  const std::vector<std::string> api_audiences_;
  const std::shared_ptr<Revisions> revisions_;
  const boost::asio::any_io_executor executor_;
  const Clock& clock_;
};

}  // namespace apimesh::authn_authz
