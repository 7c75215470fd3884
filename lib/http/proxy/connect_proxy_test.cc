#include "lib/http/proxy/connect_proxy.h"

#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <gmock/gmock.h>

#include "lib/testing/system_clock.h"

namespace apimesh::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using ::testing::HasSubstr;

/// Accepts one connection, reads one request, and sends `first`. If the client then sends a request, sends `second`.
class FakeProxy {
 public:
  FakeProxy(std::string first, std::string second)
      : acceptor_(io_, tcp::endpoint(asio::ip::make_address("127.0.0.1"), 0)),
        thread_([this, first = std::move(first), second = std::move(second)] {
          tcp::socket client(io_);
          boost::system::error_code error;
          acceptor_.accept(client, error);
          if (error) return;
          asio::read_until(client, asio::dynamic_buffer(request_), "\r\n\r\n", error);
          if (first.empty()) {  // waits until the client gives up
            std::string rest;
            asio::read_until(client, asio::dynamic_buffer(rest), "never", error);
            return;
          }
          asio::write(client, asio::buffer(first), error);
          std::string next;
          asio::read_until(client, asio::dynamic_buffer(next), "\r\n\r\n", error);
          if (!error) asio::write(client, asio::buffer(second), error);
        }) {}
  ~FakeProxy() { thread_.join(); }

  std::string Url() const { return "http://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }
  const std::string& Request() const { return request_; }

 private:
  asio::io_context io_;
  tcp::acceptor acceptor_;
  std::string request_;
  std::thread thread_;
};

ClientResult<ClientResponse> GetThrough(const std::shared_ptr<Dialer>& dialer, Duration limit) {
  SetDialers({{Network::kCluster, dialer}});
  const auto client = NewClient({.clock = testing::SystemClock(), .network = Network::kCluster});
  ClientResult<ClientResponse> response = ClientError{ClientError::Code::kUnknown, "not finished"};
  asio::io_context io;
  asio::co_spawn(
      io, client->Do("GET", "http://node.example:10250/pods", {}, "", testing::SystemClock().Steady() + limit),
      [&response](std::exception_ptr, ClientResult<ClientResponse> result) { response = std::move(result); });
  io.run();
  SetDialers({});
  return response;
}

std::shared_ptr<Dialer> ProxyAt(std::string url, std::vector<std::string>* log = nullptr) {
  ConnectProxyOptions options{.clock = testing::SystemClock()};
  options.url = std::move(url);
  if (log) {
    options.started = [log] { log->emplace_back("started"); };
    options.failed = [log](const char* stage) { log->emplace_back(stage); };
    options.connected = [log](Duration) { log->emplace_back("connected"); };
  }
  return NewConnectProxy(std::move(options));
}

TEST(ConnectProxy, SendsTheRequestThroughTheProxy) {
  std::vector<std::string> log;
  ClientResult<ClientResponse> response;
  std::string asked;
  {
    FakeProxy proxy("HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npods");
    response = GetThrough(ProxyAt(proxy.Url(), &log), std::chrono::seconds(20));
    asked = proxy.Request();
  }
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "pods");
  EXPECT_EQ(asked, "CONNECT node.example:10250 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n") << "the proxy looks up the name";
  EXPECT_EQ(log, (std::vector<std::string>{"started", "connected"}));
}

struct RefusedDial {
  const char* name;
  const char* first;  // what the proxy sends
  const char* want;   // a part of the error
};
const RefusedDial kRefusals[] = {
    {"NotAuthenticated", "HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n",
     "while dialing node.example:10250, code 407: 407 Proxy Authentication Required"},
    {"Unreachable", "HTTP/1.1 503 Service Unavailable\r\n\r\nno route", "code 503: 503 Service Unavailable"},
    {"Garbage", "SSH-2.0-OpenSSH\r\n\r\n", "failed: malformed HTTP response"},
    {"BytesAfterTheHead", "HTTP/1.1 200 OK\r\n\r\nhello", "unexpected 5 bytes of buffered data from CONNECT proxy"},
};

TEST(ConnectProxy, ReportsRefusalsAtOnce) {
  for (const RefusedDial& refusal : kRefusals) {
    std::vector<std::string> log;
    ClientResult<ClientResponse> response;
    {
      FakeProxy proxy(refusal.first, "");
      response = GetThrough(ProxyAt(proxy.Url(), &log), std::chrono::seconds(20));
    }
    ASSERT_FALSE(response) << refusal.name;
    EXPECT_THAT(response.error().message, HasSubstr(refusal.want)) << refusal.name;
    EXPECT_EQ(response.error().code, ClientError::Code::kConnect) << refusal.name;
    EXPECT_EQ(log, (std::vector<std::string>{"started", "proxy"})) << refusal.name;
  }
}

TEST(ConnectProxy, ReportsAProxyThatIsDown) {
  std::vector<std::string> log;
  const auto refused = GetThrough(ProxyAt("http://127.0.0.1:1", &log), std::chrono::seconds(20));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "dial tcp 127.0.0.1:1: Connection refused");
  EXPECT_EQ(log, (std::vector<std::string>{"started", "connect"}));
  ConnectProxyOptions options{.clock = testing::SystemClock()};
  options.socket_path = "/nowhere/proxy.sock";
  const auto missing = GetThrough(NewConnectProxy(std::move(options)), std::chrono::seconds(20));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().message, "dial unix /nowhere/proxy.sock: No such file or directory");
}

TEST(ConnectProxy, GivesUpAtTheDeadline) {
  FakeProxy proxy("", "");
  const auto response = GetThrough(ProxyAt(proxy.Url()), std::chrono::milliseconds(200));
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().code, ClientError::Code::kTimeout);
}

TEST(ConnectProxy, RefusesAnInvalidUrl) { EXPECT_THROW(ProxyAt("http://"), std::invalid_argument); }

}  // namespace
}  // namespace apimesh::http
