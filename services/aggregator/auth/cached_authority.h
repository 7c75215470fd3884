#pragma once

#include <memory>

#include "lib/base/clock.h"
#include "services/aggregator/auth/authority.h"

namespace apimesh::aggregator {

/// Caches the answers of authn-authz for as long as each answer allows, or until it is invalidated. If no invalidation
/// or heartbeat arrives for three heartbeat intervals, cached answers are not used any more: the edge fails closed.
/// Thread-safe.
/// Cache keys are digests, and the size of the caches is limited (users and allowed requests 8 MiB each, denied
/// requests 2 MiB). Refused credentials, credentials that yield the anonymous user, and denials of non-resource paths
/// are not cached, because a client can invent any number of them.
class CachedAuthority final : public Authority {
 public:
  CachedAuthority(std::shared_ptr<Authority> source, const Clock& clock);
  ~CachedAuthority() override;

  Task<AuthenticationAnswer> Authenticate(AuthenticationQuestion question) override;
  Task<AuthorizationAnswer> Authorize(AuthorizationQuestion question) override;
  Task<std::vector<AuthorizationAnswer>> AuthorizeAll(std::vector<AuthorizationQuestion> questions) override;
  Task<meta::Result<service::AccessRules>> Rules(meta::UserInfo user, std::string ns, SteadyTime deadline) override;
  Task<std::string> Metrics() override;
  Task<mesh::Response> Diagnose(mesh::Request request) override;

  void Apply(const std::optional<InvalidationNotice>& notice);
  /// Whether the invalidation stream is open and a heartbeat arrived recently.
  bool Connected() const;
  /// The size of all cached answers.
  std::size_t RememberedBytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace apimesh::aggregator
