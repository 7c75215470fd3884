#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/meta/request_info.h"
#include "lib/meta/user.h"

namespace apimesh::meta {

/// What belongs to one request on its whole way. A cheap handle: copies share the same state.
class RequestContext {
 public:
  struct State {
    std::string cluster;  // logical cluster; empty today
    UserInfo user;
    RequestInfo info;
    std::string audit_id;
    std::string traceparent;
    SteadyTime deadline = SteadyTime::max();
    std::shared_ptr<std::atomic<bool>> gone;  // true once the caller is no longer interested; may be nullptr
    std::vector<std::string> warnings;  // become Warning headers; touched by the request's own coroutine only
  };
  RequestContext() : state_(std::make_shared<State>()) {}
  explicit RequestContext(State state) : state_(std::make_shared<State>(std::move(state))) {}

  const std::string& Cluster() const { return state_->cluster; }
  const UserInfo& User() const { return state_->user; }
  const RequestInfo& Info() const { return state_->info; }
  const std::string& AuditId() const { return state_->audit_id; }
  const std::string& TraceParent() const { return state_->traceparent; }
  SteadyTime Deadline() const { return state_->deadline; }
  /// Whether nobody waits for the answer any more: the deadline has passed, or the caller is gone.
  bool Abandoned() const { return (state_->gone && *state_->gone) || Clock::System().Steady() >= state_->deadline; }
  /// Far fewer than these fit into the headers of an answer.
  void Warn(std::string text) const {
    constexpr std::size_t kMaxWarnings = 1000;
    constexpr std::size_t kMaxBytes = 1 << 17;  // of one: those that are too long are cut
    if (state_->warnings.size() >= kMaxWarnings) return;
    if (text.size() > kMaxBytes) text.resize(kMaxBytes);
    state_->warnings.push_back(std::move(text));
  }
  const std::vector<std::string>& Warnings() const { return state_->warnings; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace apimesh::meta
