// Servers that accept connections and do not respond, as a process that is stopped or stuck.
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "lib/grpc/channel.h"
#include "lib/grpc/server.h"
#include "lib/testing/run.h"
#include "lib/testing/system_clock.h"
#include "lib/testing/temp_path.h"

namespace apimesh::grpc {
namespace {

using namespace std::chrono_literals;
using apimesh::testing::RunTask;

/// A listening socket of a process that never calls accept(): the kernel completes the connections.
class SilentSocket {
 public:
  ~SilentSocket() { ::unlink(path_.c_str()); }
  std::string Address() const { return "unix:" + path_; }

 private:
  const std::string path_ = testing::TempPath("silent.sock");
  boost::asio::io_context context_;
  boost::asio::local::stream_protocol::acceptor acceptor_{context_,
                                                          boost::asio::local::stream_protocol::endpoint(path_)};
};

Task<std::vector<UnaryResult>> CallOften(std::shared_ptr<Channel> channel, int count) {
  std::vector<UnaryResult> results;
  for (int i = 0; i < count; ++i) {
    UnaryResult result = co_await channel->Unary("/test/Echo", Message(), CallOptions());
    results.push_back(std::move(result));
  }
  co_return results;
}

TEST(Unresponsive, OnlyTheFirstCallWaits) {
  const SilentSocket silent;
  ChannelOptions options{.clock = testing::SystemClock(), .target = silent.Address()};
  options.connect_timeout = 100ms;
  const auto channel = Channel::New(std::move(options));
  const SteadyTime began = testing::SystemClock().Steady();
  const std::vector<UnaryResult> results = RunTask(CallOften(channel, 100));
  EXPECT_LT(testing::SystemClock().Steady() - began, 5s);
  for (const UnaryResult& result : results) {
    EXPECT_EQ(result.status.code, Code::kUnavailable);
    EXPECT_TRUE(result.status.nothing_sent);
  }
}

TEST(Unresponsive, ReplicaTakesTheCalls) {
  const SilentSocket silent;
  const std::string address = "unix:" + testing::TempPath("echo.sock");
  boost::asio::io_context io{1};
  Methods methods;
  methods.AddUnary("/test/Echo", [](ServerCallPtr, std::string) -> Task<UnaryReply> { co_return UnaryReply(); });
  const auto server = Serve({Listener{.address = address}}, std::move(methods), {&io}, testing::SystemClock());
  std::thread thread([&io] {
    const auto keep = boost::asio::make_work_guard(io);
    io.run();
  });
  ChannelOptions options{.clock = testing::SystemClock(), .target = fmt::format("{},{}", silent.Address(), address)};
  options.connect_timeout = 100ms;
  for (const UnaryResult& result : RunTask(CallOften(Channel::New(std::move(options)), 20)))
    EXPECT_TRUE(result.status.ok()) << result.status.message;
  io.stop();
  thread.join();
}

}  // namespace
}  // namespace apimesh::grpc
