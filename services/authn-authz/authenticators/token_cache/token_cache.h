#pragma once

#include <mutex>
#include <unordered_map>

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
  TokenCache(std::unique_ptr<TokenAuthenticator> inner, Options options, const Clock& clock);
  ~TokenCache() override;

  Task<Answer> AuthenticateToken(TokenQuestionPtr question) override;
  /// Forgets everything, including what is being asked right now.
  void Clear();

 private:
  struct Entry {
    Answer answer;
    SteadyTime until;
  };
  std::string Key(const TokenQuestion& question) const;

  const std::unique_ptr<TokenAuthenticator> inner_;
  const Options options_;
  const Clock& clock_;
  const std::string secret_;
  std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;  // guarded by mutex_
  std::uint64_t generation_ = 0;                    // guarded by mutex_; goes up with Clear()
};

}  // namespace apimesh::authn_authz
