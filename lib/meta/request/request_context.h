#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/clock.h"
#include "lib/meta/request/request_info.h"
#include "lib/meta/request/user.h"
#include "lib/tracing/span_ptr.h"

namespace apimesh::meta {

/// The time at which a request ends, and the clock that decides whether it has passed.
class RequestDeadline {
 public:
  RequestDeadline() = default;  // never
  RequestDeadline(SteadyTime time, const Clock& clock) : time_(time), clock_(&clock) {}

  SteadyTime Time() const { return time_; }
  bool Passed() const { return time_ != SteadyTime::max() && clock_->Steady() >= time_; }

 private:
  SteadyTime time_ = SteadyTime::max();
  const Clock* clock_ = nullptr;  // set if time_ is
};

/// The state of one request, from its arrival to its response. It is a cheap handle: copies share the same state.
class RequestContext {
 public:
  struct State {
    std::string cluster;  // logical cluster; empty today
    UserInfo user;
    RequestInfo info;
    std::string audit_id;
    std::string traceparent;  // with which the request arrived; followed by a space and the tracestate if there is one
    RequestDeadline deadline;
    std::shared_ptr<std::atomic<bool>> gone;  // true once the client has disconnected or cancelled; may be nullptr
    // Only the request's own coroutine accesses these two.
    std::vector<std::string> warnings;                                   // become Warning headers
    std::vector<std::pair<std::string, std::string>> audit_annotations;  // become annotations of the audit event
  };
  RequestContext() : state_(std::make_shared<State>()) {}
  explicit RequestContext(State state) : state_(std::make_shared<State>(std::move(state))) {}

  const std::string& Cluster() const { return state_->cluster; }
  const UserInfo& User() const { return state_->user; }
  const RequestInfo& Info() const { return state_->info; }
  const std::string& AuditId() const { return state_->audit_id; }
  const std::string& TraceParent() const { return state_->traceparent; }
  /// The span of the current step; nullptr if the request is not traced.
  const tracing::SpanPtr& Span() const {
    const Step* const step = std::get_deleter<Step>(state_);
    return step ? step->span : kNoSpan;
  }
  /// Returns a handle of the same request for a step that is recorded by `span`.
  RequestContext Within(tracing::SpanPtr span) const {
    if (!span && !Span()) return *this;
    State* const state = state_.get();
    return RequestContext(std::shared_ptr<State>(state, Step{state_, std::move(span)}));
  }
  SteadyTime Deadline() const { return state_->deadline.Time(); }
  /// Returns whether the response is no longer needed: the deadline has passed, or the client has disconnected.
  bool Abandoned() const { return (state_->gone && *state_->gone) || state_->deadline.Passed(); }
  /// Adds a warning. At most kMaxWarnings are kept, which is far more than fit into the headers of a response.
  void Warn(std::string text) const {
    constexpr std::size_t kMaxWarnings = 1000;
    constexpr std::size_t kMaxBytes = 1 << 17;  // per warning; a longer one is truncated
    if (state_->warnings.size() >= kMaxWarnings) return;
    if (text.size() > kMaxBytes) text.resize(kMaxBytes);
    state_->warnings.push_back(std::move(text));
  }
  const std::vector<std::string>& Warnings() const { return state_->warnings; }
  /// Adds an annotation to the audit event of the request, such as "pod-security.kubernetes.io/enforce-policy". A key
  /// that is already set keeps its value, as in kube-apiserver: a write that is tried again runs admission again.
  void AddAuditAnnotation(std::string_view key, std::string_view value) const {
    for (const auto& known : state_->audit_annotations) {
      if (known.first == key) return;
    }
    state_->audit_annotations.emplace_back(key, value);
  }
  const std::vector<std::pair<std::string, std::string>>& AuditAnnotations() const { return state_->audit_annotations; }

 private:
  /// The span is part of the control block of a handle, so that the handles of a request that is not traced are copied
  /// without it.
  struct Step {
    std::shared_ptr<State> state;
    tracing::SpanPtr span;
    void operator()(State*) {
      state.reset();
      span.reset();
    }
  };
  static inline const tracing::SpanPtr kNoSpan;

  explicit RequestContext(std::shared_ptr<State> state) : state_(std::move(state)) {}

  std::shared_ptr<State> state_;
};

}  // namespace apimesh::meta
