#include "services/aggregator/health/lifecycle.h"

#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>

#include "lib/testing/system_clock.h"

namespace apimesh::aggregator {
namespace {

using namespace std::chrono_literals;

TEST(Lifecycle, EndsEachRequestOnce) {
  Lifecycle lifecycle;
  int ended = 0;
  auto gone = lifecycle.OnDrain([&] { ended += 100; });
  const auto first = lifecycle.OnDrain([&] { ++ended; }), second = lifecycle.OnDrain([&] { ++ended; });
  gone.reset();
  lifecycle.BeginDrain();
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(lifecycle.EndSome(1), 1U);
  EXPECT_EQ(ended, 1);
  const auto late = lifecycle.OnDrain([&] { ended += 10; });
  EXPECT_EQ(ended, 11) << "a request that starts while the process drains";
  EXPECT_EQ(lifecycle.EndSome(100), 0U);
  EXPECT_EQ(ended, 12);
}

TEST(Lifecycle, SpreadsTheEndsOverTheDuration) {
  const auto lifecycle = std::make_shared<Lifecycle>();
  const Clock& clock = testing::SystemClock();
  std::vector<SteadyTime> ends;
  std::vector<std::shared_ptr<void>> requests;
  for (int i = 0; i < 10; ++i) requests.push_back(lifecycle->OnDrain([&] { ends.push_back(clock.Steady()); }));
  lifecycle->BeginDrain();
  boost::asio::io_context io;
  auto done = boost::asio::co_spawn(io, Lifecycle::EndOver(lifecycle, 400ms, clock), boost::asio::use_future);
  io.run();
  done.get();
  ASSERT_EQ(ends.size(), 10U);
  EXPECT_GE(ends.back() - ends.front(), 300ms);
  EXPECT_TRUE(std::is_sorted(ends.begin(), ends.end()));
}

TEST(Lifecycle, WithoutADurationAllEndAtOnce) {
  const auto lifecycle = std::make_shared<Lifecycle>();
  int ended = 0;
  const auto first = lifecycle->OnDrain([&] { ++ended; }), second = lifecycle->OnDrain([&] { ++ended; });
  boost::asio::io_context io;
  auto done =
      boost::asio::co_spawn(io, Lifecycle::EndOver(lifecycle, 0ms, testing::SystemClock()), boost::asio::use_future);
  io.run();
  EXPECT_EQ(ended, 2);
}

}  // namespace
}  // namespace apimesh::aggregator
