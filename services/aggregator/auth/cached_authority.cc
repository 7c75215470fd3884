#include "services/aggregator/auth/cached_authority.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

namespace apimesh::aggregator {
namespace {

constexpr std::size_t kMaxEntries = 16384;
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

std::string KeyOf(const AuthenticationQuestion& question) {
  std::string key;
  for (const auto& [name, value] : question.headers) {
    Append(key, name);
    Append(key, value);
  }
  key += '|';
  for (const std::string& certificate : question.certificates_der) Append(key, certificate);
  return Sha256(key);  // no credential stays in memory for longer than its request
}

std::string KeyOf(const AuthorizationQuestion& question) {
  const meta::RequestInfo& info = question.info;
  std::string key = question.user->fingerprint;
  key += info.is_resource_request ? 'r' : 'n';
  Append(key, info.verb);
  if (!info.is_resource_request) {
    Append(key, info.path);
    return key;
  }
  for (const std::string* part : {&info.api_group, &info.api_version, &info.ns, &info.resource, &info.subresource, &info.name,
                                  &info.field_selector, &info.label_selector}) {
    Append(key, *part);
  }
  return key;
}

template <class Answer>
class Cache {
 public:
  std::optional<Answer> Find(const std::string& key, SteadyTime now) {
    const std::lock_guard lock(mutex_);
    const auto found = entries_.find(key);
    if (found == entries_.end()) return std::nullopt;
    if (now >= found->second.until || found->second.answer.revision < valid_from_) {
      entries_.erase(found);
      return std::nullopt;
    }
    return found->second.answer;
  }
  void Put(std::string key, const Answer& answer, SteadyTime now) {
    if (answer.cache_for.count() <= 0) return;
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= kMaxEntries) entries_.clear();
    entries_.insert_or_assign(std::move(key), Entry{answer, now + answer.cache_for});
  }
  void Invalidate(std::int64_t revision) {
    const std::lock_guard lock(mutex_);
    valid_from_ = revision;
  }
  void Clear() {
    const std::lock_guard lock(mutex_);
    entries_.clear();
    valid_from_ = 0;
  }

 private:
  struct Entry {
    Answer answer;
    SteadyTime until;
  };
  std::mutex mutex_;
  std::unordered_map<std::string, Entry> entries_;  // guarded by mutex_
  std::int64_t valid_from_ = 0;                     // guarded by mutex_
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
  Cache<AuthenticationAnswer> users;
  Cache<AuthorizationAnswer> decisions;
  std::atomic<SteadyTime::rep> heard_until{0};  // silence beyond this means that nothing remembered counts
  std::atomic<bool> connected{false};

  State(std::shared_ptr<Authority> given_source, const Clock& given_clock) : source(std::move(given_source)), clock(given_clock) {}
  bool Usable(SteadyTime now) const { return now.time_since_epoch().count() < heard_until; }
};

CachedAuthority::CachedAuthority(std::shared_ptr<Authority> source, const Clock& clock)
    : state_(std::make_unique<State>(std::move(source), clock)) {}
CachedAuthority::~CachedAuthority() = default;

Task<AuthenticationAnswer> CachedAuthority::Authenticate(AuthenticationQuestion question) {
  const SteadyTime now = state_->clock.Steady();
  std::string key = KeyOf(question);
  if (state_->Usable(now)) {
    if (auto known = state_->users.Find(key, now)) co_return std::move(*known);
  } else {
    question.deadline = std::min(question.deadline, now + kPatienceWithTheDeaf);
  }
  AuthenticationAnswer answer = co_await state_->source->Authenticate(std::move(question));
  if (answer.outcome == AuthenticationAnswer::Outcome::kAuthenticated) state_->users.Put(std::move(key), answer, now);
  co_return answer;
}

Task<AuthorizationAnswer> CachedAuthority::Authorize(AuthorizationQuestion question) {
  const SteadyTime now = state_->clock.Steady();
  std::string key = KeyOf(question);
  if (state_->Usable(now)) {
    if (auto known = state_->decisions.Find(key, now)) co_return std::move(*known);
  } else {
    question.deadline = std::min(question.deadline, now + kPatienceWithTheDeaf);
  }
  AuthorizationAnswer answer = co_await state_->source->Authorize(std::move(question));
  if (answer.verdict != AuthorizationAnswer::Verdict::kUnavailable) state_->decisions.Put(std::move(key), answer, now);
  co_return answer;
}

Task<std::string> CachedAuthority::Metrics() { return state_->source->Metrics(); }

void CachedAuthority::Apply(const std::optional<InvalidationNotice>& notice) {
  if (!notice) {
    state_->connected = false;
    return;
  }
  // A new stream may be to a new process, whose revisions say nothing about the old one's answers.
  if (!state_->connected.exchange(true)) {
    state_->users.Clear();
    state_->decisions.Clear();
  }
  if (notice->authentication) state_->users.Invalidate(notice->revision);
  if (notice->authorization) state_->decisions.Invalidate(notice->revision);
  const auto patience = std::max(notice->heartbeat, std::chrono::milliseconds(100)) * kHeartbeatsUntilDeaf;
  state_->heard_until = (state_->clock.Steady() + patience).time_since_epoch().count();
}

bool CachedAuthority::Connected() const { return state_->connected && state_->Usable(state_->clock.Steady()); }

}  // namespace apimesh::aggregator
