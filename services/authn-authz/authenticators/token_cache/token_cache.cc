#include "services/authn-authz/authenticators/token_cache/token_cache.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

namespace apimesh::authn_authz {
namespace {

std::string RandomSecret() {
  std::string secret(32, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(secret.data()), 32) != 1) throw std::runtime_error("no random bytes");
  return secret;
}

void AppendSized(std::string& out, std::string_view text) {
  const std::uint32_t size = static_cast<std::uint32_t>(text.size());
  out.append(reinterpret_cast<const char*>(&size), sizeof size).append(text);
}

}  // namespace

TokenCache::TokenCache(std::unique_ptr<TokenAuthenticator> inner, Options options, const Clock& clock)
    : inner_(std::move(inner)), options_(options), clock_(clock), secret_(RandomSecret()) {}
TokenCache::~TokenCache() = default;

std::string TokenCache::Key(const TokenQuestion& question) const {
  std::string text;
  AppendSized(text, question.token);
  for (const std::string& audience : question.audiences) AppendSized(text, audience);
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()), reinterpret_cast<const unsigned char*>(text.data()),
       text.size(), digest, &size);
  return std::string(reinterpret_cast<char*>(digest), size);
}

Task<Answer> TokenCache::AuthenticateToken(TokenQuestionPtr question) {
  std::string key = Key(*question);
  std::uint64_t generation = 0;
  {
    const std::lock_guard lock(mutex_);
    generation = generation_;
    if (const auto it = entries_.find(key); it != entries_.end()) {
      if (it->second.until > clock_.Steady()) co_return it->second.answer;
      entries_.erase(it);
    }
  }
  Answer answer = co_await inner_->AuthenticateToken(std::move(question));
  const bool success = answer && *answer;
  Duration keep = success ? options_.success : options_.failure;
  if (!answer && !options_.keep_errors) keep = Duration::zero();
  if (success && (*answer)->expires != WallTime::max()) {
    keep = std::min(keep, std::chrono::duration_cast<Duration>((*answer)->expires - clock_.Now()));
  }
  if (keep > Duration::zero()) {
    const std::lock_guard lock(mutex_);
    // What was asked before a Clear() may rest on what has changed since.
    if (generation == generation_) {
      if (entries_.size() >= options_.max_entries) entries_.clear();
      entries_.insert_or_assign(std::move(key), Entry{answer, clock_.Steady() + keep});
    }
  }
  co_return answer;
}

void TokenCache::Clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  ++generation_;
}

}  // namespace apimesh::authn_authz
