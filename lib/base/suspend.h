#pragma once

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <optional>
#include <utility>

#include "lib/base/task.h"

namespace apimesh {

/// A suspended coroutine that waits for one value, which may come from any thread. Move-only.
template <class T>
class Waiter {
 public:
  using Handler = typename boost::asio::async_result<boost::asio::use_awaitable_t<>, void(T)>::handler_type;

  explicit Waiter(Handler handler)
      : handler_(std::move(handler)),
        // Tracked: io_context::run() must not return while the value is still to come.
        executor_(boost::asio::prefer(boost::asio::get_associated_executor(handler_),
                                      boost::asio::execution::outstanding_work.tracked)) {}

  /// Continues the coroutine on its own executor. Callable from any thread, once; hold no lock, because it may run
  /// inside this call.
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

}  // namespace apimesh
