#pragma once

#include <optional>
#include <utility>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "lib/base/async/task.h"

namespace apimesh {

/// A suspended coroutine that waits for one value, which may be supplied by any thread. Move-only.
template <class T>
class Waiter {
 public:
  using Handler = typename boost::asio::async_result<boost::asio::use_awaitable_t<>, void(T)>::handler_type;

  explicit Waiter(Handler handler)
      : handler_(std::move(handler)),
        // Tracked, so that io_context::run() does not return while the value is outstanding.
        executor_(boost::asio::prefer(boost::asio::get_associated_executor(handler_),
                                      boost::asio::execution::outstanding_work.tracked)) {}

  /// Resumes the coroutine on its own executor. It may be called from any thread, once. The caller must not hold a
  /// lock, because the coroutine may run inside this call.
  void Resume(T value) && {
    auto executor = std::move(executor_);
    auto resume = [handler = std::move(handler_), value = std::move(value)]() mutable {
      std::move(handler)(std::move(value));
    };
    boost::asio::dispatch(executor, std::move(resume));
  }

  /// `cancel` runs when Asio cancels the operation (a timeout, or the loser of `||`). Resume() must still be called.
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

/// Moves the waiter out. A Waiter can be moved but not assigned.
template <class T>
std::optional<Waiter<T>> Take(std::optional<Waiter<T>>& waiter) {
  std::optional<Waiter<T>> taken(std::move(waiter));
  waiter.reset();
  return taken;
}

/// Suspends the calling coroutine, passes its Waiter to `start`, and returns the value with which the Waiter is
/// resumed.
template <class T, class Start>
Task<T> Suspend(Start start) {
  auto initiate = [start = std::move(start)](typename Waiter<T>::Handler handler) mutable {
    start(Waiter<T>(std::move(handler)));
  };
  return boost::asio::async_initiate<const boost::asio::use_awaitable_t<>&, void(T)>(std::move(initiate),
                                                                                     boost::asio::use_awaitable);
}

}  // namespace apimesh
