#pragma once

#include <mutex>
#include <unordered_map>

#include "lib/service/metrics.h"
#include "services/authn-authz/authenticators/authenticator.h"

namespace apimesh::authn_authz {

/// Remembers the answers of `inner` for a while, keyed by an HMAC of token and audiences, so that no token is kept.
class TokenCache final : public TokenAuthenticator {
 public:
  struct Options {
    Duration success = std::chrono::seconds(10);
    Duration failure = std::chrono::seconds(0);  // 0: not kept
    bool keep_errors = true;                     // or only "not mine"
    std::size_t max_entries = 32768;
  };
  /// `metrics`: where authentication_token_cache_* are counted; null: nowhere.
  TokenCache(std::unique_ptr<TokenAuthenticator> inner, Options options, const Clock& clock,
             service::Metrics* metrics = nullptr);
  ~TokenCache() override;

  Task<Answer> AuthenticateToken(TokenQuestionPtr question) override;
  /// Forgets everything, including what is being asked right now.
  void Clear();

 private:
  struct Entry {
    Answer answer;
    SteadyTime until;
  };
  struct Counters;
  std::string Key(const TokenQuestion& question) const;
  std::optional<Answer> Find(const std::string& key, std::uint64_t* generation);

  const std::unique_ptr<TokenAuthenticator> inner_;
  const Options options_;
  const Clock& clock_;
  const std::string secret_;
  const std::unique_ptr<Counters> counters_;
  std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;  // guarded by mutex_
  std::uint64_t generation_ = 0;                    // guarded by mutex_; goes up with Clear()
};

}  // namespace apimesh::authn_authz
