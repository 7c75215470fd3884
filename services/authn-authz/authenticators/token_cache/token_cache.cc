#include "services/authn-authz/authenticators/token_cache/token_cache.h"

#include "lib/meta/memory_of.h"

namespace apimesh::authn_authz {
namespace {

Digest KeyOf(const TokenQuestion& question) {
  KeyedHash hash;
  hash.Add(question.token);
  for (const std::string& audience : question.audiences) hash.Add(audience);
  return hash.Finish();
}

std::size_t BytesOf(const AuthenticationResult& answer) {
  if (!answer) return 256 + answer.error().Message().size();
  return *answer ? meta::MemoryOf((*answer)->user) + meta::MemoryOf((*answer)->audiences) : 0;
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
      counters_(metrics ? std::make_unique<Counters>(*metrics) : nullptr),
      accepted_(options.success_bytes),
      refused_(options.failure_bytes) {}
TokenCache::~TokenCache() = default;

std::optional<AuthenticationResult> TokenCache::Find(const Digest& key, std::uint64_t* generation) {
  const std::lock_guard lock(mutex_);
  *generation = generation_;
  const SteadyTime now = clock_.Steady();
  if (const AuthenticationResult* const answer = accepted_.Find(key, now)) return *answer;
  if (const AuthenticationResult* const answer = refused_.Find(key, now)) return *answer;
  return std::nullopt;
}

void TokenCache::Keep(const Digest& key, const AuthenticationResult& answer, std::uint64_t generation) {
  const bool success = answer && *answer;
  if (!answer && !options_.keep_errors) return;
  Duration keep = success ? options_.success : options_.failure;
  if (success && (*answer)->expires != WallTime::max()) {
    keep = std::min(keep, std::chrono::duration_cast<Duration>((*answer)->expires - clock_.Now()));
  }
  const std::lock_guard lock(mutex_);
  if (generation != generation_) return;  // an answer from before Clear() may be outdated
  const SteadyTime now = clock_.Steady();
  accepted_.DropExpired(now);
  refused_.DropExpired(now);
  (success ? accepted_ : refused_).Put(key, answer, BytesOf(answer), now + keep, now);
}

Task<AuthenticationResult> TokenCache::AuthenticateToken(TokenQuestionPtr question) {
  const Digest key = KeyOf(*question);
  std::uint64_t generation = 0;
  if (std::optional<AuthenticationResult> known = Find(key, &generation)) {
    if (counters_) {
      counters_->hits.Add();
      counters_->hit_seconds.Observe(0);
    }
    co_return std::move(*known);
  }
  const SteadyTime began = clock_.Steady();
  if (counters_) counters_->active.Add(1);
  AuthenticationResult answer = co_await inner_->AuthenticateToken(std::move(question));
  if (counters_) {
    counters_->active.Add(-1);
    counters_->misses.Add();
    counters_->miss_seconds.Observe(std::chrono::duration<double>(clock_.Steady() - began).count());
    (answer ? counters_->fetched : counters_->failed).Add();
  }
  Keep(key, answer, generation);
  co_return answer;
}

void TokenCache::Clear() {
  const std::lock_guard lock(mutex_);
  accepted_.Clear();
  refused_.Clear();
  ++generation_;
}

std::size_t TokenCache::RememberedBytes() {
  const std::lock_guard lock(mutex_);
  return accepted_.Bytes() + refused_.Bytes();
}

}  // namespace apimesh::authn_authz
