#pragma once

#include <memory>

#include "services/aggregator/auth/open_requests.h"

namespace apimesh::aggregator {

/// Asks authn-authz again about open long-running requests and ends those that it would no longer let in. All are asked
/// about every 5 s, and at once when authn-authz notifies of a change. If it can't be asked, for example because it is
/// restarting, requests go on for up to 30 s. Everything happens on the executor of Run().
class Reauthorization : public std::enable_shared_from_this<Reauthorization> {
 public:
  static constexpr std::chrono::seconds kAskEvery{5};
  static constexpr std::chrono::seconds kLongestUnconfirmed{30};

  /// `authority` must not answer from memory.
  Reauthorization(std::shared_ptr<Authority> authority, std::shared_ptr<OpenRequests> requests, const Clock& clock)
      : authority_(std::move(authority)), requests_(std::move(requests)), clock_(clock) {}

  /// What authn-authz notified of; nullopt: the stream of notices is lost.
  void Apply(const std::optional<InvalidationNotice>& notice);
  /// Runs forever.
  Task<> Run();
  /// One round: asks whatever is due.
  Task<> AskOnce();

 private:
  struct Round;
  Task<> AskAboutCredentials(Round& round);
  Task<> AskAboutPermissions(Round& round);
  void JudgeRefusal(const OpenRequests::FactPtr& fact, std::int64_t revision);
  void Unconfirmed(const OpenRequests::FactPtr& fact);
  /// Whether a refusal of this revision comes from a process that knows the state of the cluster.
  bool Counts(std::int64_t revision) const {
    return connected_ && !loading_ && revision >= first_revision_ && revision <= revision_;
  }

  const std::shared_ptr<Authority> authority_;
  const std::shared_ptr<OpenRequests> requests_;
  const Clock& clock_;
  bool connected_ = false, loading_ = true;
  std::int64_t first_revision_ = 0;  // of the process that is connected, with all its state loaded
  std::int64_t revision_ = 0;        // the newest that it notified of
  SteadyTime heard_{};               // when it was last heard of
  std::chrono::milliseconds heartbeat_{1000};
  bool changed_[2] = {false, false};  // by OpenRequests::Kind: must be asked again at once
  SteadyTime last_forced_{};
};

}  // namespace apimesh::aggregator
