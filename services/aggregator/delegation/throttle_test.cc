#include "services/aggregator/delegation/throttle.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include "lib/testing/system_clock.h"

namespace apimesh::aggregator {
namespace {

Task<> PassTimes(Throttle throttle, int times, std::size_t bytes) {
  for (int i = 0; i < times; ++i) co_await throttle.Pass(bytes);
}

Duration TimeOf(std::int64_t bytes_per_second, int times, std::size_t bytes) {
  const Clock& clock = testing::SystemClock();
  boost::asio::io_context io;
  const SteadyTime began = clock.Steady();
  auto done =
      boost::asio::co_spawn(io, PassTimes(Throttle(bytes_per_second, clock), times, bytes), boost::asio::use_future);
  io.run();
  done.get();
  return clock.Steady() - began;
}

TEST(Throttle, LimitsTheRate) {
  // The first piece passes at once, so that 9 of 10 pieces wait for those before them.
  EXPECT_GE(TimeOf(100'000, 10, 2'000), std::chrono::milliseconds(175));
}

TEST(Throttle, ZeroIsNoLimit) { EXPECT_LT(TimeOf(0, 10, 1 << 20), std::chrono::milliseconds(100)); }

}  // namespace
}  // namespace apimesh::aggregator
