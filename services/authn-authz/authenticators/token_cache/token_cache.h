#pragma once

#include <mutex>

#include "lib/base/expiring_cache.h"
#include "lib/service/metrics.h"
#include "services/authn-authz/authenticators/authenticator.h"

namespace apimesh::authn_authz {

/// Caches the answers of `inner`. Keys are keyed digests of token and audiences, so no token is stored. The size is
/// limited separately for accepted and refused tokens: refused tokens, which anyone can invent, can't evict accepted
/// ones.
class TokenCache final : public TokenAuthenticator {
 public:
  struct Options {
    Duration success = std::chrono::seconds(10);
    Duration failure = std::chrono::seconds(0);  // 0: not cached
    bool keep_errors = true;                     // false: errors are not cached, only unrecognised tokens
    std::size_t success_bytes = 8 << 20, failure_bytes = 2 << 20;
  };
  /// `metrics` receives authentication_token_cache_*; may be nullptr.
  TokenCache(std::unique_ptr<TokenAuthenticator> inner, Options options, const Clock& clock,
             service::Metrics* metrics = nullptr);
  ~TokenCache() override;

  Task<AuthenticationResult> AuthenticateToken(TokenQuestionPtr question) override;
  /// Removes all answers. Answers to calls in progress are not cached either.
  void Clear();
  /// The size of all cached answers.
  std::size_t RememberedBytes();

 private:
  struct Counters;
  std::optional<AuthenticationResult> Find(const Digest& key, std::uint64_t* generation);
  void Keep(const Digest& key, const AuthenticationResult& answer, std::uint64_t generation);

  const std::unique_ptr<TokenAuthenticator> inner_;
  const Options options_;
  const Clock& clock_;
  const std::unique_ptr<Counters> counters_;
  std::mutex mutex_;
  ExpiringCache<AuthenticationResult> accepted_, refused_;  // guarded by mutex_
  std::uint64_t generation_ = 0;                            // guarded by mutex_; incremented by Clear()
};

}  // namespace apimesh::authn_authz
