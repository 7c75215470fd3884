#pragma once

#include <mutex>

#include "lib/base/expiring_cache.h"
#include "lib/service/metrics.h"
#include "services/authn-authz/authenticators/authenticator.h"

namespace apimesh::authn_authz {

/// Remembers the answers of `inner` for a while, by a keyed digest of token and audiences, so that no token is kept.
/// Bounded by bytes; refused tokens, which anyone can make up, can't push out accepted ones.
class TokenCache final : public TokenAuthenticator {
 public:
  struct Options {
    Duration success = std::chrono::seconds(10);
    Duration failure = std::chrono::seconds(0);  // 0: not kept
    bool keep_errors = true;                     // or only "not mine"
    std::size_t success_bytes = 8 << 20, failure_bytes = 2 << 20;
  };
  /// `metrics`: where authentication_token_cache_* are counted; null: nowhere.
  TokenCache(std::unique_ptr<TokenAuthenticator> inner, Options options, const Clock& clock,
             service::Metrics* metrics = nullptr);
  ~TokenCache() override;

  Task<Answer> AuthenticateToken(TokenQuestionPtr question) override;
  /// Forgets everything, including what is being asked right now.
  void Clear();
  /// The memory that all remembered answers take up.
  std::size_t RememberedBytes();

 private:
  struct Counters;
  std::optional<Answer> Find(const Digest& key, std::uint64_t* generation);
  void Keep(const Digest& key, const Answer& answer, std::uint64_t generation);

  const std::unique_ptr<TokenAuthenticator> inner_;
  const Options options_;
  const Clock& clock_;
  const std::unique_ptr<Counters> counters_;
  std::mutex mutex_;
  ExpiringCache<Answer> accepted_, refused_;  // guarded by mutex_
  std::uint64_t generation_ = 0;              // guarded by mutex_; goes up with Clear()
};

}  // namespace apimesh::authn_authz
