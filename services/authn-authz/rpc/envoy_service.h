#pragma once

// Internal: includes protobuf, so only .cc files may include this.

#include "lib/h2/server_call.h"
#include "proto/envoy/v3/external_auth.pb.h"
#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/authorizers/authorizer.h"

namespace apimesh::authn_authz {

/// Envoy's external authorization: authenticates and authorizes at the door. A refusal is the same Status body that the
/// aggregator would send. Impersonated requests pass: only the aggregator judges those.
class EnvoyService {
 public:
  EnvoyService(std::shared_ptr<Authenticator> authenticator, std::shared_ptr<Authorizer> authorizer,
               std::vector<std::string> api_audiences);
  /// The service outlives the calls.
  void AddTo(h2::Methods& methods);

 private:
  Task<envoy::service::auth::v3::CheckResponse> Check(envoy::service::auth::v3::CheckRequest request);
  Task<> Answer(const envoy::service::auth::v3::CheckRequest& request, envoy::service::auth::v3::CheckResponse* response);

  const std::shared_ptr<Authenticator> authenticator_;
  const std::shared_ptr<Authorizer> authorizer_;
  const std::vector<std::string> api_audiences_;
};

}  // namespace apimesh::authn_authz
