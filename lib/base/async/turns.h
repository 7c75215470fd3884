#pragma once

#include <chrono>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"

namespace apimesh {

/// Divides a long computation of one coroutine into turns, so that other coroutines of its thread are not delayed.
/// Between two parts of the computation: `if (turns.Over()) co_await turns.Next();`
class Turns {
 public:
  /// Without a clock, the first turn never ends.
  explicit Turns(const Clock* clock) : clock_(clock), began_(clock ? clock->Steady() : SteadyTime()) {}

  /// Returns whether the current turn has lasted long enough.
  bool Over() const { return clock_ && clock_->Steady() - began_ > kTurn; }
  /// Lets everything run that is ready, and begins the next turn.
  Task<> Next() {
    const boost::asio::any_io_executor executor = co_await boost::asio::this_coro::executor;
    co_await boost::asio::post(executor, boost::asio::use_awaitable);
    began_ = clock_->Steady();
  }

 private:
  static constexpr Duration kTurn = std::chrono::milliseconds(5);

  const Clock* const clock_;
  SteadyTime began_;
};

}  // namespace apimesh
