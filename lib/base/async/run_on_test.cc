#include "lib/base/async/run_on.h"

#include <atomic>
#include <chrono>

#include <boost/asio/io_context.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/thread_pool.hpp>
#include <gtest/gtest.h>

namespace apimesh {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;

Task<int> WaitFor(std::chrono::microseconds time, std::atomic<int>& cancelled) {
  co_await asio::this_coro::throw_if_cancelled(false);
  asio::steady_timer timer(co_await asio::this_coro::executor, time);
  boost::system::error_code error;
  auto token = asio::redirect_error(asio::use_awaitable, error);
  co_await timer.async_wait(token);
  if (error) ++cancelled;
  co_return 7;
}

/// Runs a task on a strand of a pool, and cancels it after `limit`.
void RunAndCancel(asio::thread_pool& pool, std::chrono::microseconds time, std::chrono::microseconds limit,
                  std::atomic<int>& cancelled) {
  asio::io_context io;
  asio::cancellation_signal signal;
  int result = 0;
  const auto finished = [&result](std::exception_ptr error, int value) { result = error ? -1 : value; };
  asio::co_spawn(io, RunOn<int>(asio::make_strand(pool), WaitFor(time, cancelled)),
                 asio::bind_cancellation_slot(signal.slot(), finished));
  asio::steady_timer timer(io, limit);
  timer.async_wait([&signal](boost::system::error_code) { signal.emit(asio::cancellation_type::terminal); });
  io.run();
  EXPECT_NE(result, 0);
}

TEST(RunOn, CancelsTheTask) {
  asio::thread_pool pool(2);
  std::atomic<int> cancelled = 0;
  RunAndCancel(pool, 10s, 1ms, cancelled);
  EXPECT_EQ(cancelled, 1);
}

TEST(RunOn, ACancellationMayMeetTheEndOfTheTask) {
  asio::thread_pool pool(2);
  std::atomic<int> cancelled = 0;
  for (int i = 0; i < 2000; ++i) RunAndCancel(pool, 200us, std::chrono::microseconds(150 + i % 100), cancelled);
}

}  // namespace
}  // namespace apimesh
