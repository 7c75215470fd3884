#include "services/aggregator/auth/cached_authority.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include "lib/base/expiring_cache.h"
#include "lib/meta/memory_of.h"

namespace apimesh::aggregator {
namespace {

// What all remembered answers of a kind may take up. Denials have their own share: anyone can ask for what is denied,
// and must not be able to push out what was allowed.
constexpr std::size_t kUserBytes = 8 << 20, kAllowedBytes = 8 << 20, kDeniedBytes = 2 << 20;
constexpr int kHeartbeatsUntilDeaf = 3;
// authn-authz may take long to answer, because a webhook does; but not if it has not been heard of.
constexpr std::chrono::seconds kPatienceWithTheDeaf{2};

std::string Sha256(std::string_view text) {
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  static const EVP_MD* const sha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);  // looking it up costs as much as using it
  EVP_Digest(text.data(), text.size(), reinterpret_cast<unsigned char*>(digest.data()), nullptr, sha256, nullptr);
  return digest;
}

// Lengths keep "ab"+"c" apart from "a"+"bc".
void Append(std::string& key, std::string_view part) {
  key += std::to_string(part.size());
  key += ':';
  key += part;
}

// Who shows something that proves nothing is anonymous, whatever it is. Each such request may show something else.
bool IsWorthKeeping(bool shows_something, const AuthenticationAnswer& answer) {
  if (answer.outcome != AuthenticationAnswer::Outcome::kAuthenticated) return false;
  return !shows_something || answer.user->info.name != "system:anonymous";
}

// The paths that a client can make up are without number, and nearly all of them are denied.
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

UserPtr MakeUser(meta::UserInfo info) {
  std::string all;
  Append(all, info.name);
  Append(all, info.uid);
  for (const std::string& group : info.groups) Append(all, group);
  for (const auto& [key, values] : info.extra) {
    all += '|';
    Append(all, key);
    for (const std::string& value : values) Append(all, value);
  }
  return std::make_shared<const AuthenticatedUser>(AuthenticatedUser{std::move(info), Sha256(all)});
}

struct CachedAuthority::State {
  std::shared_ptr<Authority> source;
  const Clock& clock;
  Cache<AuthenticationAnswer> users{kUserBytes};
  Cache<AuthorizationAnswer> allowed{kAllowedBytes}, denied{kDeniedBytes};
  std::atomic<SteadyTime::rep> heard_until{0};  // silence beyond this means that nothing remembered counts
  std::atomic<bool> connected{false};

  State(std::shared_ptr<Authority> given_source, const Clock& given_clock) : source(std::move(given_source)), clock(given_clock) {}
  bool Usable(SteadyTime now) const { return now.time_since_epoch().count() < heard_until; }
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
    question.deadline = std::min(question.deadline, now + kPatienceWithTheDeaf);
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
    question.deadline = std::min(question.deadline, now + kPatienceWithTheDeaf);
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

Task<std::string> CachedAuthority::Metrics() { return state_->source->Metrics(); }

void CachedAuthority::Apply(const std::optional<InvalidationNotice>& notice) {
  if (!notice) {
    state_->connected = false;
    return;
  }
  // A new stream may be to a new process, whose revisions say nothing about the old one's answers.
  if (!state_->connected.exchange(true)) {
    state_->ForEach([](auto& cache) { cache.Clear(); });
  }
  if (notice->authentication) state_->users.Invalidate(notice->revision);
  if (notice->authorization) {
    state_->allowed.Invalidate(notice->revision);
    state_->denied.Invalidate(notice->revision);
  }
  state_->ForEach([now = state_->clock.Steady()](auto& cache) { cache.DropExpired(now); });
  const auto patience = std::max(notice->heartbeat, std::chrono::milliseconds(100)) * kHeartbeatsUntilDeaf;
  state_->heard_until = (state_->clock.Steady() + patience).time_since_epoch().count();
}

std::size_t CachedAuthority::RememberedBytes() const {
  std::size_t bytes = 0;
  state_->ForEach([&bytes](auto& cache) { bytes += cache.Bytes(); });
  return bytes;
}

bool CachedAuthority::Connected() const { return state_->connected && state_->Usable(state_->clock.Steady()); }

}  // namespace apimesh::aggregator
