#include "lib/base/async/turns.h"

#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

namespace apimesh {
namespace {

class StepClock final : public Clock {
 public:
  WallTime Now() const override { return {}; }
  SteadyTime Steady() const override { return now; }
  SteadyTime now;
};

TEST(Turns, LetOthersRunWhenATurnIsOver) {
  boost::asio::io_context context(1);
  StepClock clock;
  std::vector<int> order;
  const auto work = [](StepClock& clock, std::vector<int>& order) -> Task<> {
    Turns turns(&clock);
    for (int part = 1; part <= 4; ++part) {
      if (turns.Over()) co_await turns.Next();
      order.push_back(part);
      clock.now += std::chrono::milliseconds(4);
    }
  };
  boost::asio::co_spawn(context, work(clock, order), boost::asio::detached);
  boost::asio::post(context, [&order] { order.push_back(0); });
  context.run();
  EXPECT_EQ(order, (std::vector<int>{1, 2, 0, 3, 4}));
}

}  // namespace
}  // namespace apimesh
