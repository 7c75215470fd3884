#pragma once

// Internal: includes protobuf, so only .cc files may include this.

#include "lib/grpc/server_call.h"
#include "proto/envoy/v3/external_auth.pb.h"
#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/authorizers/authorizer.h"

namespace apimesh::authn_authz {

/// Serves Envoy's external authorization: authenticates and authorizes requests at the front proxy. A refusal has the
/// same Status body that the aggregator would send. Requests with impersonation are only authenticated here; the
/// aggregator authorizes them.
class EnvoyService {
 public:
  EnvoyService(std::shared_ptr<Authenticator> authenticator, std::shared_ptr<Authorizer> authorizer,
               std::vector<std::string> api_audiences);
  /// The service must outlive the calls.
  void AddTo(grpc::Methods& methods);

 private:
  Task<envoy::service::auth::v3::CheckResponse> Check(envoy::service::auth::v3::CheckRequest request);
  Task<> Answer(const envoy::service::auth::v3::CheckRequest& request,
                envoy::service::auth::v3::CheckResponse* response);

  const std::shared_ptr<Authenticator> authenticator_;
  const std::shared_ptr<Authorizer> authorizer_;
  const std::vector<std::string> api_audiences_;
};

}  // namespace apimesh::authn_authz
