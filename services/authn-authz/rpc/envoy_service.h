#pragma once

// Internal: includes gRPC, so only .cc files may include this.

#include <boost/asio/any_io_executor.hpp>

#include "proto/envoy/v3/external_auth.grpc.pb.h"
#include "services/authn-authz/authenticators/authenticator.h"
#include "services/authn-authz/authorizers/authorizer.h"

namespace apimesh::authn_authz {

/// Envoy's external authorization: authenticates and authorizes at the door. A refusal is the same Status body that the
/// aggregator would send. Impersonated requests pass: only the aggregator judges those.
class EnvoyService final : public envoy::service::auth::v3::Authorization::CallbackService {
 public:
  EnvoyService(std::shared_ptr<Authenticator> authenticator, std::shared_ptr<Authorizer> authorizer,
               std::vector<std::string> api_audiences, boost::asio::any_io_executor executor);

  grpc::ServerUnaryReactor* Check(grpc::CallbackServerContext* context, const envoy::service::auth::v3::CheckRequest* request,
                                  envoy::service::auth::v3::CheckResponse* response) override;

 private:
  static Task<> Answer(EnvoyService* service, const envoy::service::auth::v3::CheckRequest* request,
                       envoy::service::auth::v3::CheckResponse* response);

  const std::shared_ptr<Authenticator> authenticator_;
  const std::shared_ptr<Authorizer> authorizer_;
  const std::vector<std::string> api_audiences_;
  const boost::asio::any_io_executor executor_;
};

}  // namespace apimesh::authn_authz
