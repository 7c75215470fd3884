#include "services/aggregator/auth/cached_authority.h"

#include "lib/base/expiring_cache.h"
#include "lib/meta/memory_of.h"

namespace apimesh::aggregator {
namespace {

// Size limits of the caches. Denials have a separate limit, because any client can cause them and must not evict
// allowed requests.
constexpr std::size_t kUserBytes = 8 << 20, kAllowedBytes = 8 << 20, kDeniedBytes = 2 << 20;
constexpr int kMissedHeartbeats = 3;  // after which authn-authz counts as unreachable
// The timeout of a call while no heartbeat of authn-authz arrives. While heartbeats arrive, the timeout is that of the
// request, because authn-authz may wait for a slow webhook.
constexpr std::chrono::seconds kTimeoutWithoutHeartbeat{2};

// Credentials that yield the anonymous user are not cached, because a client can send different ones with each request.
bool IsWorthKeeping(bool shows_something, const AuthenticationAnswer& answer) {
  if (answer.outcome != AuthenticationAnswer::Outcome::kAuthenticated) return false;
  return !shows_something || answer.user->info.name != "system:anonymous";
}

// Denials of non-resource paths are not cached, because a client can invent any number of paths.
bool IsWorthKeeping(bool resource_request, const AuthorizationAnswer& answer) {
  using Verdict = AuthorizationAnswer::Verdict;
  return answer.verdict == Verdict::kAllow || (answer.verdict == Verdict::kDeny && resource_request);
}

std::size_t BytesOf(const AuthenticationAnswer& answer) {
  const AuthenticatedUser& user = *answer.user;
  return sizeof user + meta::MemoryOf(user.info) + user.fingerprint.size() + answer.reason.size();
}
std::size_t BytesOf(const AuthorizationAnswer& answer) { return answer.reason.size() + answer.error.size(); }

template <class Answer>
class Cache {
 public:
  explicit Cache(std::size_t max_bytes) : entries_(max_bytes) {}

  std::optional<Answer> Find(const Digest& key, SteadyTime now) {
    const std::lock_guard lock(mutex_);
    const Answer* const found = entries_.Find(key, now);
    if (found == nullptr) return std::nullopt;
    if (found->revision >= valid_from_) return *found;
    entries_.Remove(key);
    return std::nullopt;
  }
  void Put(const Digest& key, const Answer& answer, SteadyTime now) {
    const std::lock_guard lock(mutex_);
    entries_.Put(key, answer, BytesOf(answer), now + answer.cache_for, now);
  }
  void Invalidate(std::int64_t revision) {
    const std::lock_guard lock(mutex_);
    valid_from_ = revision;
  }
  void DropExpired(SteadyTime now) {
    const std::lock_guard lock(mutex_);
    entries_.DropExpired(now);
  }
  void Clear() {
    const std::lock_guard lock(mutex_);
    entries_.Clear();
    valid_from_ = 0;
  }
  std::size_t Bytes() {
    const std::lock_guard lock(mutex_);
    return entries_.Bytes();
  }

 private:
  std::mutex mutex_;
  ExpiringCache<Answer> entries_;  // guarded by mutex_
  std::int64_t valid_from_ = 0;    // guarded by mutex_
};

}  // namespace

struct CachedAuthority::State {
  std::shared_ptr<Authority> source;
  const Clock& clock;
  Cache<AuthenticationAnswer> users{kUserBytes};
  Cache<AuthorizationAnswer> allowed{kAllowedBytes}, denied{kDeniedBytes};
  std::atomic<SteadyTime::rep> usable_until{0};  // cached answers are not used after this time
  std::atomic<bool> connected{false};

  State(std::shared_ptr<Authority> given_source, const Clock& given_clock)
      : source(std::move(given_source)), clock(given_clock) {}
  bool Usable(SteadyTime now) const { return now.time_since_epoch().count() < usable_until; }
  template <class Function>
  void ForEach(Function function) {
    function(users);
    function(allowed);
    function(denied);
  }
};

CachedAuthority::CachedAuthority(std::shared_ptr<Authority> source, const Clock& clock)
    : state_(std::make_unique<State>(std::move(source), clock)) {}
CachedAuthority::~CachedAuthority() = default;

Task<AuthenticationAnswer> CachedAuthority::Authenticate(AuthenticationQuestion question) {
  const SteadyTime now = state_->clock.Steady();
  const Digest key = KeyOf(question);
  if (state_->Usable(now)) {
    if (auto known = state_->users.Find(key, now)) co_return std::move(*known);
  } else {
    question.deadline = std::min(question.deadline, now + kTimeoutWithoutHeartbeat);
  }
  const bool shows_something = !question.headers.empty() || !question.certificates_der.empty();
  AuthenticationAnswer answer = co_await state_->source->Authenticate(std::move(question));
  if (IsWorthKeeping(shows_something, answer)) state_->users.Put(key, answer, now);
  co_return answer;
}

Task<AuthorizationAnswer> CachedAuthority::Authorize(AuthorizationQuestion question) {
  const SteadyTime now = state_->clock.Steady();
  const Digest key = KeyOf(question);
  if (state_->Usable(now)) {
    if (auto known = state_->allowed.Find(key, now)) co_return std::move(*known);
    if (auto known = state_->denied.Find(key, now)) co_return std::move(*known);
  } else {
    question.deadline = std::min(question.deadline, now + kTimeoutWithoutHeartbeat);
  }
  const bool resource_request = question.info.is_resource_request;
  AuthorizationAnswer answer = co_await state_->source->Authorize(std::move(question));
  if (IsWorthKeeping(resource_request, answer)) {
    const bool allows = answer.verdict == AuthorizationAnswer::Verdict::kAllow;
    (allows ? state_->allowed : state_->denied).Put(key, answer, now);
  }
  co_return answer;
}

Task<std::vector<AuthorizationAnswer>> CachedAuthority::AuthorizeAll(std::vector<AuthorizationQuestion> questions) {
  return state_->source->AuthorizeAll(std::move(questions));
}

Task<meta::Result<service::AccessRules>> CachedAuthority::Rules(meta::UserInfo user, std::string ns,
                                                                SteadyTime deadline) {
  return state_->source->Rules(std::move(user), std::move(ns), deadline);
}

Task<std::string> CachedAuthority::Metrics() { return state_->source->Metrics(); }

Task<mesh::Response> CachedAuthority::Diagnose(mesh::Request request) {
  return state_->source->Diagnose(std::move(request));
}

void CachedAuthority::Apply(const std::optional<InvalidationNotice>& notice) {
  if (!notice) {
    state_->connected = false;
    return;
  }
  // A new stream may belong to a new process, whose revisions are not comparable with those of cached answers.
  if (!state_->connected.exchange(true)) {
    state_->ForEach([](auto& cache) { cache.Clear(); });
  }
  if (notice->authentication) state_->users.Invalidate(notice->revision);
  if (notice->authorization) {
    state_->allowed.Invalidate(notice->revision);
    state_->denied.Invalidate(notice->revision);
  }
  state_->ForEach([now = state_->clock.Steady()](auto& cache) { cache.DropExpired(now); });
  const auto silence = std::max(notice->heartbeat, std::chrono::milliseconds(100)) * kMissedHeartbeats;
  state_->usable_until = (state_->clock.Steady() + silence).time_since_epoch().count();
}

std::size_t CachedAuthority::RememberedBytes() const {
  std::size_t bytes = 0;
  state_->ForEach([&bytes](auto& cache) { bytes += cache.Bytes(); });
  return bytes;
}

bool CachedAuthority::Connected() const { return state_->connected && state_->Usable(state_->clock.Steady()); }

}  // namespace apimesh::aggregator
