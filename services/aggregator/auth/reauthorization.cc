#include "services/aggregator/auth/reauthorization.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/base/log.h"

namespace apimesh::aggregator {
namespace {

using Kind = OpenRequests::Kind;
using FactPtr = OpenRequests::FactPtr;

constexpr std::chrono::milliseconds kTick{250};
constexpr std::chrono::seconds kBetweenChanges{1};  // more frequent changes are combined
constexpr std::chrono::seconds kQuestionTimeout{10};
constexpr int kHeartbeatsUntilSilent = 3;
// The number of permissions per call and the pause between calls: two workers check at most about 25,000 permissions
// per second, so that authn-authz remains available to other requests.
constexpr std::size_t kBatch = 64;
constexpr std::chrono::milliseconds kRest{5};

// Compares users; the order of groups is ignored.
bool IsSameUser(const meta::UserInfo& one, const meta::UserInfo& other) {
  if (one.name != other.name || one.uid != other.uid || one.extra != other.extra) return false;
  std::vector<std::string> groups = one.groups, others = other.groups;
  std::sort(groups.begin(), groups.end());
  std::sort(others.begin(), others.end());
  return groups == others;
}

Task<> Pause(std::chrono::milliseconds time) {
  boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, time);
  co_await timer.async_wait(boost::asio::use_awaitable);
}

}  // namespace

/// The facts of one round, which several workers share.
struct Reauthorization::Round {
  std::vector<FactPtr> facts;
  std::size_t next = 0;

  std::vector<FactPtr> Take(std::size_t count) {
    std::vector<FactPtr> taken;
    for (; taken.size() < count && next < facts.size(); ++next) taken.push_back(facts[next]);
    return taken;
  }
};

void Reauthorization::Apply(const std::optional<InvalidationNotice>& notice) {
  if (!notice) {
    connected_ = false;
    return;
  }
  // A new stream may belong to a new process. Its refusals are valid only after it has loaded the state of the cluster.
  if (!connected_ || (loading_ && !notice->loading)) first_revision_ = notice->revision;
  connected_ = true;
  loading_ = notice->loading;
  revision_ = notice->revision;
  last_notice_ = clock_.Steady();
  heartbeat_ = std::max(notice->heartbeat, std::chrono::milliseconds(100));
  changed_[static_cast<int>(Kind::kCredentials)] |= notice->authentication;
  changed_[static_cast<int>(Kind::kPermissions)] |= notice->authorization;
}

Task<> Reauthorization::Run() {
  const auto self = shared_from_this();
  for (;;) {
    co_await Pause(kTick);
    try {
      co_await AskOnce();
    } catch (const std::exception& error) {
      log::Error("asking again about open requests: {}", error.what());
    }
  }
}

Task<> Reauthorization::AskOnce() {
  using namespace boost::asio::experimental::awaitable_operators;
  const SteadyTime now = clock_.Steady();
  const bool silent = now - last_notice_ > heartbeat_ * kHeartbeatsUntilSilent;
  if (!connected_ || loading_ || silent) {
    const std::size_t ended = requests_->FailConfirmedBefore(now - kLongestUnconfirmed);
    if (ended > 0) log::Warning("authn-authz can't be asked: open requests for {} users and permissions end", ended);
    co_return;
  }
  SteadyTime due[2] = {now - kAskEvery, now - kAskEvery};
  if ((changed_[0] || changed_[1]) && now - last_forced_ >= kBetweenChanges) {
    last_forced_ = now;
    for (int kind = 0; kind < 2; ++kind) {
      if (std::exchange(changed_[kind], false)) due[kind] = now;
    }
  }
  Round credentials{requests_->ConfirmedBefore(Kind::kCredentials, due[0])};
  // Credentials are checked one per call, by four workers in parallel, because webhooks verify some of them.
  if (!credentials.facts.empty()) {
    co_await (AskAboutCredentials(credentials) && AskAboutCredentials(credentials) &&
              AskAboutCredentials(credentials) && AskAboutCredentials(credentials));
  }
  Round permissions{requests_->ConfirmedBefore(Kind::kPermissions, due[1])};
  if (!permissions.facts.empty()) co_await (AskAboutPermissions(permissions) && AskAboutPermissions(permissions));
}

Task<> Reauthorization::AskAboutCredentials(Round& round) {
  for (std::vector<FactPtr> taken = round.Take(1); !taken.empty(); taken = round.Take(1)) {
    const FactPtr fact = taken.front();
    const SteadyTime asked = clock_.Steady();
    AuthenticationQuestion question = fact->credentials;
    question.deadline = asked + kQuestionTimeout;
    const AuthenticationAnswer answer = co_await authority_->Authenticate(std::move(question));
    using Outcome = AuthenticationAnswer::Outcome;
    if (answer.outcome == Outcome::kUnavailable) {
      Unconfirmed(fact);
    } else if (answer.outcome == Outcome::kAuthenticated && IsSameUser(answer.user->info, fact->user->info)) {
      requests_->Confirm(fact, asked);
    } else {
      JudgeRefusal(fact, answer.revision);
    }
  }
}

Task<> Reauthorization::AskAboutPermissions(Round& round) {
  for (std::vector<FactPtr> taken = round.Take(kBatch); !taken.empty(); taken = round.Take(kBatch)) {
    const SteadyTime asked = clock_.Steady();
    std::vector<AuthorizationQuestion> questions;
    for (const FactPtr& fact : taken) {
      questions.push_back(fact->permission);
      questions.back().deadline = asked + kQuestionTimeout;
    }
    const std::vector<AuthorizationAnswer> answers = co_await authority_->AuthorizeAll(std::move(questions));
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const AuthorizationAnswer& answer = answers[i];
      if (answer.verdict == AuthorizationAnswer::Verdict::kAllow) {
        requests_->Confirm(taken[i], asked);
      } else if (answer.verdict == AuthorizationAnswer::Verdict::kUnavailable || !answer.error.empty()) {
        Unconfirmed(taken[i]);
      } else {
        JudgeRefusal(taken[i], answer.revision);
      }
    }
    if (round.next < round.facts.size()) co_await Pause(kRest);
  }
}

void Reauthorization::JudgeRefusal(const FactPtr& fact, std::int64_t revision) {
  if (Counts(revision)) return requests_->Fail(fact);
  // A process that has just started refuses nearly every request until its state is loaded, so the next round decides.
  Unconfirmed(fact);
}

void Reauthorization::Unconfirmed(const FactPtr& fact) {
  if (fact->confirmed < clock_.Steady() - kLongestUnconfirmed) requests_->Fail(fact);
}

}  // namespace apimesh::aggregator
