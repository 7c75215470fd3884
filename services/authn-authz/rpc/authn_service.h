#pragma once

// Internal: includes protobuf, so only .cc files may include this.

#include "lib/h2/server_call.h"
#include "proto/mesh/v1/authn.pb.h"
#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/state/revisions.h"

namespace apimesh::authn_authz {

/// Authenticate over gRPC. A refusal is an answer, not a gRPC error; its reason goes to the log and to the caller's.
class AuthnService {
 public:
  AuthnService(std::shared_ptr<Authenticator> authenticator, std::vector<std::string> api_audiences,
               std::shared_ptr<Revisions> revisions, const Clock& clock);
  /// The service outlives the calls.
  void AddTo(h2::Methods& methods);

 private:
  Task<mesh::v1::AuthenticateResponse> Authenticate(mesh::v1::AuthenticateRequest request);

  const std::shared_ptr<Authenticator> authenticator_;
  const std::vector<std::string> api_audiences_;
  const std::shared_ptr<Revisions> revisions_;
  const Clock& clock_;
};

}  // namespace apimesh::authn_authz
