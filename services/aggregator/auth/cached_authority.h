#pragma once

#include <memory>

#include "lib/base/clock.h"
#include "services/aggregator/auth/authority.h"

namespace apimesh::aggregator {

/// Remembers what authn-authz said, for as long as it allowed and not beyond an invalidation. When nothing has been
/// heard of invalidations for three heartbeats, nothing that was remembered counts: the edge fails closed. Thread-safe.
/// Requests are remembered by their digest, and all answers together take up a bounded number of bytes (users and
/// allowed requests 8 MiB each, denied requests 2 MiB). Not remembered: refused credentials, credentials that prove
/// nothing, and denials of paths that name no resource, because a client can make up any number of those.
class CachedAuthority final : public Authority {
 public:
  CachedAuthority(std::shared_ptr<Authority> source, const Clock& clock);
  ~CachedAuthority() override;

  Task<AuthenticationAnswer> Authenticate(AuthenticationQuestion question) override;
  Task<AuthorizationAnswer> Authorize(AuthorizationQuestion question) override;
  Task<std::vector<AuthorizationAnswer>> AuthorizeAll(std::vector<AuthorizationQuestion> questions) override;
  Task<std::string> Metrics() override;

  void Apply(const std::optional<InvalidationNotice>& notice);
  /// Whether invalidations are being heard: authn-authz is there.
  bool Connected() const;
  /// The memory that all remembered answers take up.
  std::size_t RememberedBytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace apimesh::aggregator
