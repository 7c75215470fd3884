#pragma once

#include <memory>

#include "lib/mesh/delegate/delegate.h"
#include "lib/service/auth/authority.h"

namespace apimesh::grpc {
class Channel;
}

namespace apimesh::service {

/// authn-authz over gRPC. If the service is down, calls return kUnavailable immediately.
class GrpcAuthority final : public Authority {
 public:
  GrpcAuthority(const mesh::Endpoint& endpoint, const Clock& clock);
  Task<AuthenticationAnswer> Authenticate(AuthenticationQuestion question) override;
  Task<AuthorizationAnswer> Authorize(AuthorizationQuestion question) override;
  Task<std::vector<AuthorizationAnswer>> AuthorizeAll(std::vector<AuthorizationQuestion> questions) override;
  Task<meta::Result<AccessRules>> Rules(meta::UserInfo user, std::string ns, SteadyTime deadline) override;
  Task<std::string> Metrics() override;
  Task<mesh::Response> Diagnose(mesh::Request request) override;
  /// Keeps the invalidation stream open and reports each invalidation, and nullopt when the stream breaks. Runs
  /// forever.
  Task<> WatchInvalidations(InvalidationFn report);

 private:
  Task<> Follow(const InvalidationFn& report);

  const std::shared_ptr<grpc::Channel> channel_;
  const Clock& clock_;
};

}  // namespace apimesh::service
