#include "services/aggregator/auth/revocable_end.h"

#include <optional>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "lib/testing/system_clock.h"

namespace apimesh::aggregator {
namespace {

struct Request {
  boost::asio::io_context io;
  int stopped = 0, cut = 0;
  std::optional<RevocableEnd> end{std::in_place, io.get_executor(), [this] { ++stopped; }, [this] { ++cut; }};
};

TEST(RevocableEnd, ClosesTheConnectionOfARequestThatGoesOn) {
  Request request;
  const auto callback = request.end->Callback();
  callback();
  EXPECT_EQ(request.stopped, 0) << "not inside of the callback";
  callback();
  const SteadyTime began = testing::SystemClock().Steady();
  request.io.run();
  EXPECT_EQ(request.stopped, 1);
  EXPECT_EQ(request.cut, 1);
  EXPECT_GE(testing::SystemClock().Steady() - began, RevocableEnd::kTimeToRead);
}

TEST(RevocableEnd, DoesNotCutARequestThatHasEnded) {
  Request request;
  const auto callback = request.end->Callback();
  callback();
  request.io.poll();
  request.end.reset();
  callback();
  request.io.run();
  EXPECT_EQ(request.stopped, 1);
  EXPECT_EQ(request.cut, 0);
}

TEST(RevocableEnd, DoesNothingAfterTheRequest) {
  Request request;
  request.end->Callback()();
  request.end.reset();
  request.io.run();
  EXPECT_EQ(request.stopped, 0);
  EXPECT_EQ(request.cut, 0);
}

}  // namespace
}  // namespace apimesh::aggregator
