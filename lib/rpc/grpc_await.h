#pragma once

// Internal: includes gRPC, so only .cc files may include this.

#include <grpcpp/client_context.h>
#include <grpcpp/support/status.h>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "lib/base/clock.h"
#include "lib/base/task.h"

namespace apimesh::rpc {

/// A suspended coroutine that waits for one value of a gRPC callback. Move-only.
template <class T>
class Waiter {
 public:
  using Handler = typename boost::asio::async_result<boost::asio::use_awaitable_t<>, void(T)>::handler_type;

  explicit Waiter(Handler handler)
      : handler_(std::move(handler)),
        // Tracked: io_context::run() must not return while the call is under way.
        executor_(boost::asio::prefer(boost::asio::get_associated_executor(handler_),
                                      boost::asio::execution::outstanding_work.tracked)) {}

  /// Continues the coroutine on its own executor. Callable from any thread, once.
  void Resume(T value) && {
    auto executor = std::move(executor_);
    auto resume = [handler = std::move(handler_), value = std::move(value)]() mutable {
      std::move(handler)(std::move(value));
    };
    boost::asio::dispatch(executor, std::move(resume));
  }

  /// `cancel` runs when Asio cancels the operation (a time-out, the loser of `||`); the value must still come.
  template <class F>
  void OnCancel(F cancel) {
    auto slot = boost::asio::get_associated_cancellation_slot(handler_);
    if (!slot.is_connected()) return;
    slot.assign([cancel = std::move(cancel)](boost::asio::cancellation_type) mutable { cancel(); });
  }

 private:
  Handler handler_;
  boost::asio::any_io_executor executor_;
};

/// Moves the waiter out (it can be moved, not assigned).
template <class T>
std::optional<Waiter<T>> Take(std::optional<Waiter<T>>& waiter) {
  std::optional<Waiter<T>> taken(std::move(waiter));
  waiter.reset();
  return taken;
}

/// Suspends the calling coroutine, hands `start` its Waiter, and returns what the Waiter is resumed with.
template <class T, class Start>
Task<T> Suspend(Start start) {
  auto initiate = [start = std::move(start)](typename Waiter<T>::Handler handler) mutable {
    start(Waiter<T>(std::move(handler)));
  };
  return boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&, void(T)>(std::move(initiate),
                                                                                    boost::asio::use_awaitable);
}

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
