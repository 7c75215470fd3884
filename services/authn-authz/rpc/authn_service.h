#pragma once

// Internal: includes protobuf, so only .cc files may include this.

#include "lib/grpc/server_call.h"
#include "proto/mesh/v1/authn.pb.h"
#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/state/revisions.h"

namespace apimesh::authn_authz {

/// Serves Authenticate over gRPC. A refusal is a response, not a gRPC error. Its reason is part of the response and is
/// logged at debug level.
class AuthnService {
 public:
  AuthnService(std::shared_ptr<Authenticator> authenticator, std::vector<std::string> api_audiences,
               std::shared_ptr<Revisions> revisions, const Clock& clock);
  /// The service must outlive the calls.
  void AddTo(grpc::Methods& methods);

 private:
  Task<mesh::v1::AuthenticateResponse> Authenticate(mesh::v1::AuthenticateRequest request);

  const std::shared_ptr<Authenticator> authenticator_;
  const std::vector<std::string> api_audiences_;
  const std::shared_ptr<Revisions> revisions_;
  const Clock& clock_;
};

}  // namespace apimesh::authn_authz
