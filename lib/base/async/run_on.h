#pragma once

#include <memory>
#include <utility>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "lib/base/async/task.h"

namespace apimesh {

/// Runs `task` on another executor and returns its result. If the caller is cancelled meanwhile, so is the task, on its
/// own executor.
/// co_spawn() alone is not safe for this: in Boost 1.81 it posts a cancellation with a plain pointer to state that is
/// freed when the caller continues, which can happen before the cancellation runs.
template <class T>
Task<T> RunOn(boost::asio::any_io_executor executor, Task<T> task) {
  namespace asio = boost::asio;
  const auto signal = std::make_shared<asio::cancellation_signal>();
  asio::cancellation_state state = co_await asio::this_coro::cancellation_state;
  asio::cancellation_slot caller = state.slot();
  if (caller.is_connected()) {
    caller.assign([signal, executor](asio::cancellation_type type) {
      asio::post(executor, [signal, type] { signal->emit(type); });
    });
  }
  auto token = asio::bind_cancellation_slot(signal->slot(), asio::use_awaitable);
  co_return co_await asio::co_spawn(executor, std::move(task), std::move(token));
}

}  // namespace apimesh
