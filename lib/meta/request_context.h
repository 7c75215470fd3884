#pragma once

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
  void Warn(std::string text) const { state_->warnings.push_back(std::move(text)); }
  const std::vector<std::string>& Warnings() const { return state_->warnings; }

 private:
  std::shared_ptr<State> state_;
};

}  // namespace apimesh::meta
