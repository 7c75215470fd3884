#include "lib/http/client.h"

#include <future>
#include <thread>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <gmock/gmock.h>

#include "lib/base/async/wakeup.h"
#include "lib/http/test_client.h"

namespace apimesh::http {
namespace {

class HttpClient : public ClientFixture {};

TEST_F(HttpClient, SendsAndReusesConnections) {
  ServerOptions options{.clock = testing::SystemClock()};
  options.tls = false;
  const auto server = Listen(options, Describe);
  const auto client = NewClient({.clock = testing::SystemClock()});
  const std::string url = fmt::format("http://127.0.0.1:{}/p?q=1", server->Port());
  auto twice = [](Client& client, std::string url) -> Task<std::pair<std::string, std::string>> {
    const Headers headers{{"a", "b"}};
    const auto first = co_await client.Do("POST", url, headers, "body", In(10));
    const auto second = co_await client.Do("POST", url, headers, "body", In(10));
    co_return std::pair(first->body, second->body);
  };
  const auto [first, second] = RunTask(twice(*client, url));
  EXPECT_TRUE(first.starts_with("POST /p?q=1 body 127.0.0.1:")) << first;
  EXPECT_EQ(first, second) << "the same port: the same connection";
}

TEST_F(HttpClient, SaysWhatWentWrong) {
  const auto client = NewClient({.clock = testing::SystemClock()});
  ServerOptions options{.clock = testing::SystemClock()};
  options.tls = false;
  auto server = Listen(options, [](Request, ResponseWriter& writer) -> Task<> {
    asio::steady_timer timer(co_await asio::this_coro::executor, std::chrono::milliseconds(300));
    co_await timer.async_wait(asio::use_awaitable);
    co_await writer.Send(200, Headers(), std::vector<SharedBytes>());
  });
  const std::string url = fmt::format("http://127.0.0.1:{}/", server->Port());
  const auto late =
      RunTask(client->Do("GET", url, {}, "", testing::SystemClock().Steady() + std::chrono::milliseconds(50)));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ClientError::Code::kTimeout) << late.error().message;
  server.reset();
  const auto refused = RunTask(client->Do("GET", url, {}, "", In(10)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ClientError::Code::kConnect) << refused.error().message;
  EXPECT_FALSE(RunTask(client->Do("GET", "ftp://x", {}, "", In(10))));
}

// DNS rebinding: the first lookup returns a harmless address, all later ones return the local machine.
TEST_F(HttpClient, ConnectsOnlyToAddressesThatWereChecked) {
  std::atomic<int> requests = 0;
  ServerOptions server_options{.clock = testing::SystemClock()};
  server_options.tls = false;
  const auto server = Listen(server_options, [&requests](Request, ResponseWriter& writer) -> Task<> {
    ++requests;
    co_await writer.Send(200, Headers(), std::vector<SharedBytes>());
  });
  int lookups = 0;
  std::vector<std::vector<const char*>> answers;
  ClientOptions options{.clock = testing::SystemClock()};
  options.allow_address = &IsGlobalUnicast;
  options.resolve = [&](std::string host) -> Task<ClientResult<std::vector<IpAddress>>> {
    EXPECT_EQ(host, "rebind.example");
    std::vector<IpAddress> addresses;
    for (const char* text : answers[std::min<std::size_t>(lookups, answers.size() - 1)])
      addresses.push_back(*ParseIp(text));
    ++lookups;
    co_return addresses;
  };
  const std::string url = fmt::format("http://rebind.example:{}/", server->Port());
  // 255.0.0.1 is a unicast address without a route: connecting fails immediately, and no packet leaves the machine.
  answers = {{"255.0.0.1"}, {"127.0.0.1"},       {"255.0.0.1", "::ffff:127.0.0.1"},
             {"::1"},       {"169.254.169.254"}, {"0.0.0.0"}};
  const auto client = NewClient(options);
  const auto first = RunTask(client->Do("GET", url, {}, "", In(10)));
  ASSERT_FALSE(first);
  EXPECT_EQ(first.error().code, ClientError::Code::kConnect) << first.error().message;
  EXPECT_EQ(lookups, 1) << "the answer that was checked is the one that is used";
  for (int i = 1; i < 6; ++i) {
    const auto refused = RunTask(client->Do("GET", url, {}, "", In(10)));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ClientError::Code::kAddressNotAllowed) << refused.error().message;
    EXPECT_EQ(refused.error().message, "address not allowed");
    const auto upgrade = RunTask(client->Upgrade("GET", url, {{"connection", "upgrade"}, {"upgrade", "x"}}, In(10)));
    EXPECT_FALSE(upgrade);
  }
  EXPECT_EQ(requests, 0);
}

TEST_F(HttpClient, NumbersAreNoHostNames) {
  const auto client = NewClient({.clock = testing::SystemClock()});
  for (const char* host :
       {"0177.0.0.1", "127.1", "2130706433", "0x7f000001", "127.0.0.0x1", "010.0.0.1", "127.0.0.1."}) {
    const auto answer = RunTask(client->Do("GET", fmt::format("http://{}:1/", host), {}, "", In(10)));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ClientError::Code::kLookup) << host;
    EXPECT_EQ(answer.error().message, fmt::format("lookup {}: no such host", host));
  }
  for (const char* port : {"http", "80x", "-1", "65536", "8 0"}) {
    const auto answer = RunTask(client->Do("GET", fmt::format("http://127.0.0.1:{}/", port), {}, "", In(10)));
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ClientError::Code::kProtocol) << port;
  }
}

TEST_F(HttpClient, StreamsWithBackPressureAndStops) {
  ServerOptions options{.clock = testing::SystemClock()};
  options.tls = false;
  const auto server = Listen(options, [](Request, ResponseWriter& writer) -> Task<> {
    co_await writer.Start(200, Headers(), false);
    while (co_await writer.Write(Bytes(std::string(1000, 'x')))) {}
  });
  const auto client = NewClient({.clock = testing::SystemClock()});
  std::size_t got = 0;
  std::function<Task<bool>(int, Headers)> head = [](int code, Headers) -> Task<bool> { co_return code == 200; };
  Client::PieceFn piece = [&got](std::string data) -> Task<bool> {
    got += data.size();
    co_return got < 100'000;
  };
  const auto result =
      RunTask(client->Stream("GET", fmt::format("http://127.0.0.1:{}/", server->Port()), {}, "", head, piece, In(10)));
  ASSERT_TRUE(result);
  EXPECT_GE(got, 100'000u);
}

// A response that sends nothing for a long time, like an idle watch, must not keep its connection when its reader
// leaves.
TEST_F(HttpClient, ACancelledStreamClosesItsConnection) {
  using namespace boost::asio::experimental::awaitable_operators;
  const Clock& clock = testing::SystemClock();
  const auto disconnected = Wakeup::New();
  std::promise<void> left;
  ServerOptions options{.clock = clock};
  options.tls = false;
  const auto server = Listen(options, [disconnected, &left](Request, ResponseWriter& writer) -> Task<> {
    writer.OnDisconnect([disconnected] { disconnected->Wake(); });
    co_await writer.Start(200, Headers(), false);
    co_await writer.Write(Bytes("first"));
    co_await Wakeup::Wait(disconnected);
    left.set_value();
  });
  const auto client = NewClient({.clock = clock});
  const auto arrived = Wakeup::New();
  std::function<Task<bool>(int, Headers)> head = [](int, Headers) -> Task<bool> { co_return true; };
  Client::PieceFn piece = [arrived](std::string) -> Task<bool> {
    arrived->Wake();
    co_return true;
  };
  const SteadyTime began = clock.Steady();
  auto run = [&]() -> Task<std::size_t> {
    auto stream =
        client->Stream("GET", fmt::format("http://127.0.0.1:{}/", server->Port()), {}, "", head, piece, In(20));
    const auto ended = co_await (std::move(stream) || Wakeup::Wait(arrived));
    co_return ended.index();
  };
  EXPECT_EQ(RunTask(run()), 1u);
  EXPECT_EQ(left.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
  EXPECT_LT(clock.Steady() - began, std::chrono::seconds(15)) << "the stream ended at its deadline";
}

TEST_F(HttpClient, UpgradesOrTellsWhyNot) {
  ServerOptions options{.clock = testing::SystemClock()};
  options.tls = false;
  const auto server = Listen(options, [](Request request, ResponseWriter& writer) -> Task<> {
    if (request.target == "/no") {
      co_await writer.Send(403, Headers(), Bytes("forbidden"));
      co_return;
    }
    Headers headers{{"upgrade", "x"}};
    const auto tunnel = co_await writer.Upgrade(std::move(headers));
    const std::string name = co_await tunnel->Read();
    co_await tunnel->Write("hello " + name);
  });
  const auto client = NewClient({.clock = testing::SystemClock()});
  auto talk = [](Client& client, std::string base) -> Task<std::string> {
    const Headers headers{{"connection", "Upgrade"}, {"upgrade", "x"}};
    auto refused = co_await client.Upgrade("GET", base + "/no", headers, In(10));
    std::string all = std::to_string(refused->response.code) + refused->response.body + " ";
    if (refused->connection) co_return "a refused upgrade has no connection";
    auto upgraded = co_await client.Upgrade("GET", base + "/yes", headers, In(10));
    co_await upgraded->connection->Write("me");
    co_return all + co_await upgraded->connection->Read();
  };
  EXPECT_EQ(RunTask(talk(*client, fmt::format("http://127.0.0.1:{}", server->Port()))), "403forbidden hello me");
}

}  // namespace
}  // namespace apimesh::http
