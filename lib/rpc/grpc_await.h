#pragma once

// Internal: includes gRPC, so only .cc files may include this.

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lib/base/clock.h"
#include "lib/base/suspend.h"
#include "lib/base/task.h"

namespace apimesh::rpc {

struct CallOptions {
  SteadyTime deadline = SteadyTime::max();
  /// Off: a server that is down fails the call at once.
  bool wait_for_ready = false;
  std::vector<std::pair<std::string, std::string>> metadata;
};

gpr_timespec ToDeadline(SteadyTime deadline);
SteadyTime FromDeadline(gpr_timespec deadline);
void Prepare(grpc::ClientContext& context, const CallOptions& options);
/// Whether a call that ended so never reached a connection: it may be sent again, whatever it does.
bool NothingWasSent(const grpc::Status& status);

template <class Response>
struct UnaryAnswer {
  grpc::Status status;
  Response response;
};

/// One unary call; the coroutine resumes on its own executor. Asio cancellation cancels the call.
///   auto answer = co_await rpc::Unary(stub->async(), &KV::Stub::async::Range, request, {.deadline = deadline});
template <class Stub, class Base, class Request, class Response>
Task<UnaryAnswer<Response>> Unary(Stub* stub,
                                  void (Base::*method)(grpc::ClientContext*, const Request*, Response*,
                                                       std::function<void(grpc::Status)>),
                                  std::type_identity_t<Request> request, CallOptions options = {}) {
  using Answer = UnaryAnswer<Response>;
  struct State {
    grpc::ClientContext context;
    Request request;
    Answer answer;
    std::optional<Waiter<Answer>> waiter;
  };
  auto state = std::make_shared<State>();
  state->request = std::move(request);
  Prepare(state->context, options);
  auto start = [stub, method, state = std::move(state)](Waiter<Answer> waiter) mutable {
    waiter.OnCancel([weak = std::weak_ptr<State>(state)] {
      if (auto live = weak.lock()) live->context.TryCancel();
    });
    State& call = *state;
    call.waiter.emplace(std::move(waiter));
    auto done = [state = std::move(state)](grpc::Status status) {
      state->answer.status = std::move(status);
      auto waiter = Take(state->waiter);
      std::move(*waiter).Resume(std::move(state->answer));
    };
    (stub->*method)(&call.context, &call.request, &call.answer.response, std::move(done));
  };
  return Suspend<Answer>(std::move(start));
}

}  // namespace apimesh::rpc
