#include "lib/service/runtime.h"

#include <csignal>
#include <filesystem>
#include <future>
#include <thread>

#include <boost/asio/use_future.hpp>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/service/chain.h"
#include "lib/testing/system_clock.h"

namespace apimesh::service {
namespace {

using namespace std::chrono_literals;

std::string Body(const mesh::Response& response) {
  std::string text;
  for (const auto& piece : response.body) text += piece.View();
  return text;
}

/// Responds after a delay, to verify that a shutdown waits for it.
class SlowHandler final : public mesh::DelegateHandler {
 public:
  Task<mesh::Response> Call(mesh::Request&&) override {
    started.set_value();
    boost::asio::steady_timer timer(co_await boost::asio::this_coro::executor, 200ms);
    co_await timer.async_wait(boost::asio::use_awaitable);
    co_return mesh::Response::Json(200, "done");
  }
  Task<> Stream(mesh::Request, mesh::ResponseStream&) override { co_return; }
  Task<> Connect(mesh::Request, std::unique_ptr<mesh::ConnectStream>) override { co_return; }
  std::shared_ptr<void> Describe(std::function<void(mesh::Description)>) override { return nullptr; }
  std::promise<void> started;
};

class RuntimeTest : public ::testing::Test {
 protected:
  RuntimeTest() {
    std::string pattern = ::testing::TempDir() + "apimesh-runtime-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    flags_.listen = {"unix:" + (folder_ / "s" / "test.sock").string()};
    flags_.log_level = "error";
  }
  ~RuntimeTest() override { std::filesystem::remove_all(folder_); }

  std::future<mesh::Response> Get(Runtime& runtime, std::string path) {
    mesh::Request request;
    request.method = "GET";
    request.path = std::move(path);
    return boost::asio::co_spawn(runtime.Io(), client_->Call(std::move(request)), boost::asio::use_future);
  }

  std::filesystem::path folder_;
  CommonFlags flags_;
  std::unique_ptr<mesh::DelegateClient> client_;
};

TEST_F(RuntimeTest, ServesItsOwnPathsAndTheHandler) {
  Runtime runtime("test", flags_, testing::SystemClock());
  runtime.GetMetrics().GetCounter("apiserver_request_total", "Requests.", {{"verb", "GET"}}).Add(2);
  runtime.Serve(NotFoundHandler());
  client_ = mesh::NewDelegateClient({.target = flags_.listen[0]}, runtime.Executor(), testing::SystemClock());
  EXPECT_EQ(Body(Get(runtime, "/livez").get()), "ok");
  const std::string metrics = Body(Get(runtime, "/metrics").get());
  EXPECT_NE(metrics.find("apiserver_request_total{verb=\"GET\"} 2"), std::string::npos) << metrics;
  EXPECT_NE(metrics.find("process_cpu_seconds_total"), std::string::npos);
  const mesh::Response missing = Get(runtime, "/nope").get();
  EXPECT_EQ(missing.code, 404);
  EXPECT_EQ(Body(missing), "404 page not found\n");
}

TEST_F(RuntimeTest, PassesTheChainOn) {
  Runtime last("last", flags_, testing::SystemClock());
  last.Serve(NotFoundHandler());
  CommonFlags first_flags = flags_;
  first_flags.listen = {"unix:" + (folder_ / "s" / "first.sock").string()};
  Runtime first("first", first_flags, testing::SystemClock());
  first.Serve(
      ForwardTo(mesh::NewDelegateClient({.target = flags_.listen[0]}, first.Executor(), testing::SystemClock())));
  client_ = mesh::NewDelegateClient({.target = first_flags.listen[0]}, first.Executor(), testing::SystemClock());
  EXPECT_EQ(Body(Get(first, "/nope").get()), "404 page not found\n");
}

TEST_F(RuntimeTest, HooksGateReadiness) {
  Runtime runtime("test", flags_, testing::SystemClock());
  std::promise<void> ran;
  runtime.PostStart("seed", [&ran]() -> Task<> {
    ran.set_value();
    co_return;
  });
  EXPECT_EQ(runtime.Health().Answer("/readyz", "")->code, 500);
  auto running = std::async(std::launch::async, [&runtime] { return runtime.Run(); });
  ran.get_future().get();
  EXPECT_TRUE(testing::Eventually([&] { return runtime.Health().Answer("/readyz", "")->code == 200; }));
  runtime.Stop();
  EXPECT_EQ(running.get(), 0);
}

TEST_F(RuntimeTest, FailedHookEndsTheProcess) {
  Runtime runtime("test", flags_, testing::SystemClock());
  runtime.PostStart("seed", []() -> Task<> {
    throw std::runtime_error("no");
    co_return;
  });
  EXPECT_EQ(runtime.Run(), 2) << "1 would say that the configuration is bad";
}

TEST_F(RuntimeTest, StopsInOrderAndLosesNothing) {
  flags_.shutdown_delay_duration = std::chrono::milliseconds(100);
  Runtime runtime("test", flags_, testing::SystemClock());
  auto handler = std::make_shared<SlowHandler>();
  runtime.Serve(handler);
  std::vector<std::string> order;
  runtime.OnDrain([&](std::chrono::milliseconds) { order.push_back("drain"); });
  runtime.OnStop([&] { order.push_back("first in, last out"); });
  runtime.OnStop([&] { order.push_back("last in, first out"); });
  client_ = mesh::NewDelegateClient({.target = flags_.listen[0]}, runtime.Executor(), testing::SystemClock());
  auto call = Get(runtime, "/x");
  handler->started.get_future().get();
  auto running = std::async(std::launch::async, [&runtime] { return runtime.Run(); });
  ::raise(SIGTERM);
  EXPECT_TRUE(testing::Eventually([&] { return runtime.Health().Answer("/readyz", "")->code == 500; }));
  EXPECT_EQ(Body(Get(runtime, "/livez").get()), "ok");  // still serves during the delay
  EXPECT_EQ(running.get(), 0);
  EXPECT_EQ(Body(call.get()), "done");
  EXPECT_EQ(order, (std::vector<std::string>{"drain", "last in, first out", "first in, last out"}));
}

TEST_F(RuntimeTest, HealthAddressThatCannotBeIsAnError) {
  flags_.health_address = "unix:" + (folder_ / "missing" / "health.sock").string();
  try {
    Runtime runtime("test", flags_, testing::SystemClock());
    FAIL() << "listens in a folder that is not there";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("missing/health.sock"), std::string::npos) << error.what();
  }
}

TEST_F(RuntimeTest, HealthIsServedOverPlainHttp) {
  const std::string path = folder_ / "health.sock";
  flags_.health_address = "unix:" + path;
  Runtime runtime("test", flags_, testing::SystemClock());
  const int file = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::connect(file, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  const std::string request = "GET /readyz?verbose HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
  ASSERT_GT(::write(file, request.data(), request.size()), 0);
  std::string answer;
  char buffer[1024];
  for (ssize_t got; (got = ::read(file, buffer, sizeof buffer)) > 0;) answer.append(buffer, got);
  ::close(file);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200")) << answer;
  EXPECT_TRUE(answer.ends_with("readyz check passed\n")) << answer;
}

}  // namespace
}  // namespace apimesh::service
