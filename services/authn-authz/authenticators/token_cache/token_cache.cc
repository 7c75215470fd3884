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

struct TokenCache::Counters {
  explicit Counters(service::Metrics& metrics)
      : hits(Requests(metrics, "hit")),
        misses(Requests(metrics, "miss")),
        fetched(Fetches(metrics, "ok")),
        failed(Fetches(metrics, "error")),
        hit_seconds(Seconds(metrics, "hit")),
        miss_seconds(Seconds(metrics, "miss")),
        active(metrics.GetGauge("authentication_token_cache_active_fetch_count", "Tokens being looked at.",
                                {{"status", "in_flight"}})) {}

  static service::Counter Requests(service::Metrics& metrics, const char* status) {
    return metrics.GetCounter("authentication_token_cache_request_total", "Questions about tokens.",
                              {{"status", status}});
  }
  static service::Counter Fetches(service::Metrics& metrics, const char* status) {
    return metrics.GetCounter("authentication_token_cache_fetch_total", "Questions that the cache could not answer.",
                              {{"status", status}});
  }
  static service::Histogram Seconds(service::Metrics& metrics, const char* status) {
    return metrics.GetHistogram("authentication_token_cache_request_duration_seconds", "Time to answer them.",
                                {.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}, {{"status", status}});
  }

  service::Counter hits, misses, fetched, failed;
  service::Histogram hit_seconds, miss_seconds;
  service::Gauge active;
};

TokenCache::TokenCache(std::unique_ptr<TokenAuthenticator> inner, Options options, const Clock& clock,
                       service::Metrics* metrics)
    : inner_(std::move(inner)),
      options_(options),
      clock_(clock),
      secret_(RandomSecret()),
      counters_(metrics ? std::make_unique<Counters>(*metrics) : nullptr) {}
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

std::optional<Answer> TokenCache::Find(const std::string& key, std::uint64_t* generation) {
  const std::lock_guard lock(mutex_);
  *generation = generation_;
  const auto it = entries_.find(key);
  if (it == entries_.end()) return std::nullopt;
  if (it->second.until > clock_.Steady()) return it->second.answer;
  entries_.erase(it);
  return std::nullopt;
}

Task<Answer> TokenCache::AuthenticateToken(TokenQuestionPtr question) {
  std::string key = Key(*question);
  std::uint64_t generation = 0;
  if (std::optional<Answer> known = Find(key, &generation)) {
    if (counters_) {
      counters_->hits.Add();
      counters_->hit_seconds.Observe(0);
    }
    co_return std::move(*known);
  }
  const SteadyTime began = clock_.Steady();
  if (counters_) counters_->active.Add(1);
  Answer answer = co_await inner_->AuthenticateToken(std::move(question));
  if (counters_) {
    counters_->active.Add(-1);
    counters_->misses.Add();
    counters_->miss_seconds.Observe(std::chrono::duration<double>(clock_.Steady() - began).count());
    (answer ? counters_->fetched : counters_->failed).Add();
  }
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
