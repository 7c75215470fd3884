#pragma once

#include <memory>

#include "services/aggregator/auth/open_requests.h"

namespace apimesh::aggregator {

/// Checks open long-running requests with authn-authz again and ends those that it would no longer admit. All are
/// checked every 5 s, and within a second after authn-authz reports a change. If authn-authz is unreachable, for
/// example during a restart, requests continue for up to 30 s. Everything runs on the executor of Run().
class Reauthorization : public std::enable_shared_from_this<Reauthorization> {
 public:
  static constexpr std::chrono::seconds kAskEvery{5};
  static constexpr std::chrono::seconds kLongestUnconfirmed{30};

  /// `authority` must not be cached.
  Reauthorization(std::shared_ptr<Authority> authority, std::shared_ptr<OpenRequests> requests, const Clock& clock)
      : authority_(std::move(authority)), requests_(std::move(requests)), clock_(clock) {}

  /// Handles a notice of authn-authz; nullopt means that the stream of notices is lost.
  void Apply(const std::optional<InvalidationNotice>& notice);
  /// Runs forever.
  Task<> Run();
  /// Runs one round, which checks every fact that is due.
  Task<> AskOnce();

 private:
  struct Round;
  Task<> AskAboutCredentials(Round& round);
  Task<> AskAboutPermissions(Round& round);
  void JudgeRefusal(const OpenRequests::FactPtr& fact, std::int64_t revision);
  void Unconfirmed(const OpenRequests::FactPtr& fact);
  /// Whether a refusal with this revision comes from the connected process after it has loaded the state of the
  /// cluster.
  bool Counts(std::int64_t revision) const {
    return connected_ && !loading_ && revision >= first_revision_ && revision <= revision_;
  }

  const std::shared_ptr<Authority> authority_;
  const std::shared_ptr<OpenRequests> requests_;
  const Clock& clock_;
  bool connected_ = false, loading_ = true;
  std::int64_t first_revision_ = 0;  // first revision of the connected process with its state loaded
  std::int64_t revision_ = 0;        // newest revision in a notice
  SteadyTime last_notice_{};         // time of the last notice
  std::chrono::milliseconds heartbeat_{1000};
  bool changed_[2] = {false, false};  // indexed by OpenRequests::Kind: facts must be checked immediately
  SteadyTime last_forced_{};
};

}  // namespace apimesh::aggregator
