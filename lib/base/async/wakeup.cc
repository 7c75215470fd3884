#include "lib/base/async/wakeup.h"

#include <optional>

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace apimesh {
namespace asio = boost::asio;

struct Wakeup::Sleep {
  asio::any_io_executor executor;
  std::function<void(bool)> resume;
  std::optional<asio::steady_timer> timer;
};

Task<bool> Wakeup::Wait(std::shared_ptr<Wakeup> wakeup, SteadyTime deadline) {
  auto executor = co_await asio::this_coro::executor;
  auto initiate = [wakeup, deadline, executor](auto handler) {
    auto slot = asio::get_associated_cancellation_slot(handler);
    auto shared = std::make_shared<decltype(handler)>(std::move(handler));
    auto sleep = std::make_shared<Sleep>();
    sleep->executor = executor;
    sleep->resume = [shared](bool woken) { (*shared)(woken); };
    const std::weak_ptr<Wakeup> weak = wakeup;
    if (slot.is_connected()) {
      slot.assign([weak](asio::cancellation_type) {
        if (auto self = weak.lock()) self->Complete(false);
      });
    }
    {
      const std::lock_guard lock(wakeup->mutex_);
      if (!wakeup->done_) {
        wakeup->sleep_ = sleep;
        if (deadline != SteadyTime::max()) {
          sleep->timer.emplace(executor, deadline);
          sleep->timer->async_wait([weak](const boost::system::error_code& error) {
            if (error) return;
            if (auto self = weak.lock()) self->Complete(false);
          });
        }
        return;
      }
    }
    asio::post(executor, [sleep, woken = wakeup->woken_] { sleep->resume(woken); });
  };
  co_return co_await asio::async_initiate<const asio::use_awaitable_t<>&, void(bool)>(initiate, asio::use_awaitable);
}

void Wakeup::Complete(bool woken) {
  std::shared_ptr<Sleep> sleep;
  {
    const std::lock_guard lock(mutex_);
    if (done_) return;
    done_ = true;
    woken_ = woken;
    sleep.swap(sleep_);
  }
  if (!sleep) return;
  // The timer is destroyed with `sleep` on the executor of the sleeping coroutine, because no other thread may use it.
  auto executor = sleep->executor;
  asio::post(executor, [sleep = std::move(sleep), woken] {
    auto resume = std::move(sleep->resume);
    sleep->timer.reset();
    resume(woken);
  });
}

Task<bool> Wakeup::WaitFor(std::shared_ptr<Wakeup> wakeup, Duration timeout) {
  return Wait(std::move(wakeup), std::chrono::steady_clock::now() + timeout);
}

Task<> SleepFor(Duration duration) { return SleepUntil(std::chrono::steady_clock::now() + duration); }

Task<> SleepUntil(SteadyTime deadline) {
  asio::steady_timer timer(co_await asio::this_coro::executor, deadline);
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

}  // namespace apimesh
