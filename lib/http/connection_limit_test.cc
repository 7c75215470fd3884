#include <atomic>
#include <chrono>
#include <thread>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <sys/resource.h>

#include "lib/http/server.h"
#include "lib/http/test_raw_client.h"
#include "lib/testing/system_clock.h"

namespace apimesh::http {
namespace {

constexpr std::string_view kPlainGet = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";

Task<> AnswerDone(Request /*request*/, ResponseWriter& writer) {
  Headers headers;
  std::vector<SharedBytes> body;
  body.emplace_back(std::string("done"));
  co_await writer.Send(200, std::move(headers), std::move(body));
}

std::unique_ptr<Server> ListenWith(const Limits& limits, Handler handler = AnswerDone) {
  ServerOptions options{.clock = testing::SystemClock()};
  options.tls = false;
  options.limits = limits;
  return Listen(std::move(options), std::move(handler));
}

TEST(ConnectionLimit, ConnectionsThatWaitLongestGiveWay) {
  Limits limits;
  limits.connections = 5;
  const auto server = ListenWith(limits);
  std::vector<std::unique_ptr<RawClient>> clients;
  for (int i = 0; i < 5; ++i) {
    clients.push_back(std::make_unique<RawClient>(server->Port()));
    clients.back()->Send(i == 0 ? kPlainGet.substr(0, 10) : kPlainGet);  // the first one never completes its head
    if (i == 0) continue;
    EXPECT_TRUE(clients.back()->ReadUntil("done").ends_with("done"));
  }
  RawClient another(server->Port());
  another.Send(kPlainGet);
  EXPECT_TRUE(another.ReadUntil("done").ends_with("done"));
  EXPECT_EQ(clients[0]->ReadUntil(""), "") << "closed";
  clients[4]->Send(kPlainGet);
  EXPECT_TRUE(clients[4]->ReadUntil("done").ends_with("done")) << "one is enough";
}

TEST(ConnectionLimit, ConnectionsWithRequestsStay) {
  Limits limits;
  limits.connections = 2;
  std::atomic<int> begun{0};
  std::atomic<bool> go_on{false};
  // A capturing coroutine is safe here: the server is destroyed before the lambda.
  const Handler wait_and_answer = [&](Request request, ResponseWriter& writer) -> Task<> {
    ++begun;
    boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor);
    while (!go_on) {
      pause.expires_after(std::chrono::milliseconds(2));
      co_await pause.async_wait(boost::asio::use_awaitable);
    }
    co_await AnswerDone(std::move(request), writer);
  };
  const auto server = ListenWith(limits, wait_and_answer);
  RawClient first(server->Port()), second(server->Port());
  first.Send(kPlainGet);
  second.Send(kPlainGet);
  ASSERT_TRUE(testing::Eventually([&] { return begun == 2; }));
  RawClient third(server->Port());
  third.Send(kPlainGet);
  std::this_thread::sleep_for(std::chrono::milliseconds(30));  // time in which a server without a limit serves it
  EXPECT_EQ(begun, 2) << "the third one waits";
  go_on = true;
  for (RawClient* client : {&first, &second, &third}) EXPECT_TRUE(client->ReadUntil("done").ends_with("done"));
}

TEST(ConnectionLimit, LargeUnfinishedHeadsShareMemory) {
  Limits limits;
  limits.unfinished_head_bytes = 250'000;
  const auto server = ListenWith(limits);
  const std::string part = "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(100'000, 'x');
  RawClient first(server->Port()), second(server->Port()), third(server->Port());
  for (RawClient* client : {&first, &second}) {
    client->Send(part);
    std::this_thread::sleep_for(std::chrono::milliseconds(30));  // the server reads it before the next one
  }
  third.Send(part);
  EXPECT_TRUE(third.ReadUntil("").starts_with("HTTP/1.1 431"));
  first.Send("\r\n\r\n");
  EXPECT_TRUE(first.ReadUntil("done").ends_with("done")) << "those that came before go on";
}

// A handler that ends only when the test allows it stands for a client that does not read the response.
TEST(ConnectionLimit, LargeHeadsOfRequestsInProgressShareMemory) {
  Limits limits;
  limits.unfinished_head_bytes = 250'000;
  std::atomic<int> begun{0};
  std::atomic<bool> go_on{false};
  const Handler wait_and_answer = [&](Request request, ResponseWriter& writer) -> Task<> {
    ++begun;
    boost::asio::steady_timer pause(co_await boost::asio::this_coro::executor);
    while (!go_on) {
      pause.expires_after(std::chrono::milliseconds(2));
      co_await pause.async_wait(boost::asio::use_awaitable);
    }
    co_await AnswerDone(std::move(request), writer);
  };
  const auto server = ListenWith(limits, wait_and_answer);
  const std::string large = "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(100'000, 'x') + "\r\n\r\n";
  RawClient first(server->Port()), second(server->Port()), third(server->Port()), small(server->Port());
  first.Send(large);
  second.Send(large);
  ASSERT_TRUE(testing::Eventually([&] { return begun == 2; }));
  third.Send(large);
  EXPECT_TRUE(third.ReadUntil("").starts_with("HTTP/1.1 431"));
  small.Send(kPlainGet);
  ASSERT_TRUE(testing::Eventually([&] { return begun == 3; })) << "small heads are not limited";
  go_on = true;
  for (RawClient* client : {&first, &second, &small}) EXPECT_TRUE(client->ReadUntil("done").ends_with("done"));
  RawClient fourth(server->Port());
  fourth.Send(large);
  EXPECT_TRUE(fourth.ReadUntil("done").ends_with("done")) << "the memory is free again";
}

TEST(ConnectionLimit, HeadersHaveALimitedNumberOfFields) {
  Limits limits;
  limits.header_fields = 10;
  const auto server = ListenWith(limits);
  std::string head(kPlainGet.substr(0, kPlainGet.size() - 2));
  for (int i = 0; i < 9; ++i) head += "a: b\r\n";
  RawClient client(server->Port());
  client.Send(head + "\r\n");
  EXPECT_TRUE(client.ReadUntil("done").ends_with("done"));
  client.Send(head + "a: b\r\n\r\n");
  EXPECT_TRUE(client.ReadUntil("").starts_with("HTTP/1.1 431"));
}

TEST(ConnectionLimit, DefaultLeavesDescriptorsForOtherUses) {
  const std::size_t limit = DefaultMaxConnections();
  EXPECT_GT(limit, 100u);
  rlimit descriptors{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &descriptors), 0);
  EXPECT_LT(limit + 64, descriptors.rlim_cur);
}

}  // namespace
}  // namespace apimesh::http
