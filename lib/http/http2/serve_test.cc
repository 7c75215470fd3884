#include <filesystem>
#include <future>
#include <thread>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/use_future.hpp>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>

#include "lib/base/async/wakeup.h"
#include "lib/gzip/test_gunzip.h"
#include "lib/http/http2/connection.h"
#include "lib/http/refusal.h"
#include "lib/http/server.h"
#include "lib/http/test_certificates.h"
#include "lib/http/test_raw_client.h"
#include "lib/testing/system_clock.h"

namespace apimesh::http {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::Pair;

constexpr std::size_t kLargeBody = 300'000;

/// One request and its complete response, on the thread of the client.
class Exchange final : public http2::Stream {
 public:
  std::string status;
  http2::Headers headers;
  std::string body;
  std::atomic<std::size_t> received{0};
  std::promise<std::uint32_t> closed;  // the error code

  std::uint32_t Wait() {
    auto future = closed.get_future();
    EXPECT_EQ(future.wait_for(20s), std::future_status::ready);
    return future.wait_for(0s) == std::future_status::ready ? future.get() : std::uint32_t{NGHTTP2_INTERNAL_ERROR};
  }

 private:
  void OnHeader(std::string_view name, std::string_view value) override {
    if (name == ":status") {
      status += status.empty() ? value : "," + std::string(value);
    } else {
      headers.emplace_back(name, value);
    }
  }
  void OnData(std::string_view data) override {
    body += data;
    received = body.size();
  }
  void OnRemoteEnd() override {}
  void OnClosed(std::uint32_t error_code) override { closed.set_value(error_code); }
};
using ExchangePtr = std::shared_ptr<Exchange>;

/// A TLS server for both protocols, and HTTP/2 connections to it.
class Http2OverTls : public ::testing::Test {
 protected:
  Http2OverTls() : work_(io_.get_executor()), thread_([this] { io_.run(); }) {
    std::string pattern = ::testing::TempDir() + "apimesh-h2-tls-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Http2OverTls() override {
    OnThread([&] {
      for (const auto& connection : connections_) connection->Close("the test ends");
      connections_.clear();
    });
    released_ = true;
    server_.reset();
    OnThread([] {});
    work_.reset();
    io_.stop();
    thread_.join();
    std::filesystem::remove_all(folder_);
  }

  void Serve(Limits limits = {}) {
    ServerOptions options = TlsServerIn(folder_ / "server");
    options.tls_options.protocols = {"h2", "http/1.1"};
    options.limits = limits;
    const auto handler = [this](Request request, ResponseWriter& writer) { return Handle(std::move(request), writer); };
    server_ = Listen(std::move(options), handler);
  }

  Task<> Handle(Request request, ResponseWriter& writer) {
    Headers headers{{"content-type", "text/plain"}};
    if (request.target == "/close") headers.emplace_back("connection", "close");
    ++running_;
    while (request.target == "/wait" && !released_) co_await SleepFor(2ms);
    --running_;
    std::string text(request.target == "/large" ? kLargeBody : 0, 'x');
    if (text.empty())
      text = request.method + (request.peer->UsesHttp2() ? " h2 " : " h1 ") + request.peer->address + " ";
    if (writer.HasBody() && request.target != "/unread") {
      BodyTerms terms;
      const auto read = co_await writer.ReadBody(std::move(terms));
      text += read ? *read : PlainRefusalBody(read.error()).text;
    }
    std::vector<SharedBytes> body;
    body.emplace_back(std::move(text));
    co_await writer.Send(200, std::move(headers), std::move(body));
  }

  template <class F>
  void OnThread(F f) {
    std::promise<void> ran;
    boost::asio::post(io_, [&] {
      f();
      ran.set_value();
    });
    ran.get_future().wait();
  }

  /// Connects with TLS; `protocol` is offered by ALPN.
  std::shared_ptr<Http2Connection> Connect(http2::Limits limits = {}) {
    net::ClientTlsOptions options;
    options.insecure_skip_verify = true;
    options.protocol = "h2";
    net::ClientTls tls(options, testing::SystemClock());
    std::string error;
    const int fd = ConnectTo(server_->Port());
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    std::shared_ptr<net::Transport> transport;
    OnThread([&] {
      transport = net::NewTransport(io_.get_executor(), fd, tls.NewSession("a", error), testing::SystemClock());
    });
    auto handshake = net::Transport::Handshake::kWantRead;
    const auto done = [&] {
      OnThread([&] { handshake = transport->TryHandshake(); });
      return handshake == net::Transport::Handshake::kDone || handshake == net::Transport::Handshake::kFailed;
    };
    EXPECT_TRUE(testing::Eventually(done));
    EXPECT_EQ(handshake, net::Transport::Handshake::kDone) << transport->Error();
    std::shared_ptr<Http2Connection> connection;
    OnThread([&] {
      net::Peer peer;
      transport->DescribePeer(peer);
      EXPECT_EQ(peer.protocol, "h2");
      net::Transport::Detached detached = transport->Detach();
      transport.reset();
      auto again = net::NewTransport(io_.get_executor(), detached.fd, std::move(detached.ssl), testing::SystemClock());
      Http2Options http2{.clock = testing::SystemClock()};
      http2.limits = limits;
      connection = Http2Connection::Start(io_.get_executor(), std::move(again), std::move(http2));
      connections_.push_back(connection);
    });
    return connection;
  }

  ExchangePtr Open(const std::shared_ptr<Http2Connection>& connection, std::string_view method, std::string_view path,
                   std::string body = "", const http2::HeaderViews& more = {}, bool end = true) {
    auto exchange = std::make_shared<Exchange>();
    OnThread([&] {
      http2::HeaderViews head{{":method", method}, {":scheme", "https"}, {":path", path}, {":authority", "a"}};
      head.insert(head.end(), more.begin(), more.end());
      EXPECT_TRUE(connection->Open(exchange, head));
      const SharedBytes piece(std::move(body));
      if (!piece.empty()) exchange->Send(std::span(&piece, 1));
      if (end) exchange->End();
    });
    return exchange;
  }
  bool TakesRequests(const std::shared_ptr<Http2Connection>& connection) {
    bool takes = false;
    OnThread([&] { takes = connection->TakesRequests() && !connection->Closed(); });
    return takes;
  }
  bool Closed(const std::shared_ptr<Http2Connection>& connection) {
    bool closed = false;
    OnThread([&] { closed = connection->Closed(); });
    return closed;
  }

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
  std::filesystem::path folder_;
  std::unique_ptr<Server> server_;
  std::vector<std::shared_ptr<Http2Connection>> connections_;
  std::atomic<bool> released_{false};
  std::atomic<int> running_{0};
};

TEST_F(Http2OverTls, ServesManyRequestsOnOneConnection) {
  Serve();
  const auto connection = Connect();
  std::vector<ExchangePtr> exchanges;
  for (int i = 0; i < 50; ++i) exchanges.push_back(Open(connection, "POST", "/a", std::string(1000 * i, 'b')));
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(exchanges[i]->Wait(), 0u);
    EXPECT_EQ(exchanges[i]->status, "200");
    EXPECT_TRUE(exchanges[i]->body.starts_with("POST h2 127.0.0.1:")) << exchanges[i]->body.substr(0, 100);
    EXPECT_TRUE(exchanges[i]->body.ends_with(std::string(1000 * i, 'b')));
  }
  EXPECT_TRUE(TakesRequests(connection));
}

TEST_F(Http2OverTls, CompressesLargeResponses) {
  Serve();
  const auto connection = Connect();
  const auto exchange = Open(connection, "GET", "/large", "", {{"accept-encoding", "gzip"}});
  EXPECT_EQ(exchange->Wait(), 0u);
  EXPECT_THAT(exchange->headers, Contains(Pair("content-encoding", "gzip")));
  EXPECT_TRUE(gzip::Gunzip(exchange->body).value_or("") == std::string(kLargeBody, 'x'));
  const auto head = Open(connection, "HEAD", "/large", "", {{"accept-encoding", "gzip"}});
  EXPECT_EQ(head->Wait(), 0u);
  EXPECT_THAT(head->headers, Contains(Pair("content-length", std::to_string(kLargeBody))));
}

TEST_F(Http2OverTls, AsksForTheBodyOnlyWhenItIsRead) {
  Serve();
  const auto connection = Connect();
  const auto exchange = Open(connection, "POST", "/a", "", {{"expect", "100-continue"}}, false);
  const auto asked = [&] {
    bool received = false;
    OnThread([&] { received = exchange->status == "100"; });
    return received;
  };
  EXPECT_TRUE(testing::Eventually(asked));
  OnThread([&] {
    const SharedBytes piece(std::string("body"));
    exchange->Send(std::span(&piece, 1));
    exchange->End();
  });
  EXPECT_EQ(exchange->Wait(), 0u);
  EXPECT_EQ(exchange->status, "100,200");
  EXPECT_TRUE(exchange->body.ends_with(" body"));
}

TEST_F(Http2OverTls, RefusesMalformedRequests) {
  Serve();
  const auto connection = Connect();
  EXPECT_EQ(Open(connection, "GET", "/a", "", {{"a b", "c"}})->Wait(), std::uint32_t{NGHTTP2_PROTOCOL_ERROR});
  EXPECT_EQ(Open(connection, "POST", "/a", "too long", {{"content-length", "2"}})->Wait(),
            std::uint32_t{NGHTTP2_PROTOCOL_ERROR});
  const auto shorter = Open(connection, "POST", "/a", "a", {{"content-length", "2"}});
  EXPECT_EQ(shorter->Wait(), 0u);
  EXPECT_THAT(shorter->body, ::testing::HasSubstr("shorter than Content-Length"));
  const auto upgrade = Open(connection, "GET", "/a", "", {{"connection", "upgrade"}, {"upgrade", "websocket"}});
  EXPECT_EQ(upgrade->Wait(), 0u);
  EXPECT_EQ(upgrade->status, "400");
  EXPECT_TRUE(TakesRequests(connection));
}

TEST_F(Http2OverTls, SendsGoAwayForConnectionClose) {
  Serve();
  const auto connection = Connect();
  const auto waiting = Open(connection, "GET", "/wait");
  EXPECT_TRUE(testing::Eventually([&] { return running_ > 0; }));
  const auto closing = Open(connection, "GET", "/close");
  EXPECT_EQ(closing->Wait(), 0u);
  EXPECT_THAT(closing->headers, ::testing::Not(Contains(Pair("connection", "close"))));
  EXPECT_TRUE(testing::Eventually([&] { return !TakesRequests(connection); }));
  released_ = true;
  EXPECT_EQ(waiting->Wait(), 0u) << "requests in progress finish";
  EXPECT_TRUE(testing::Eventually([&] { return Closed(connection); }));
}

TEST_F(Http2OverTls, DrainsWithGoAway) {
  Serve();
  const auto connection = Connect(), idle = Connect();
  const auto waiting = Open(connection, "GET", "/wait");
  EXPECT_EQ(Open(idle, "GET", "/a")->Wait(), 0u);
  EXPECT_TRUE(testing::Eventually([&] { return running_ > 0; }));
  auto drained = boost::asio::co_spawn(io_, server_->Drain(20s), boost::asio::use_future);
  EXPECT_TRUE(testing::Eventually([&] { return Closed(idle) && !TakesRequests(connection); }));
  EXPECT_FALSE(Closed(connection));
  released_ = true;
  EXPECT_EQ(waiting->Wait(), 0u);
  EXPECT_EQ(drained.wait_for(20s), std::future_status::ready);
}

TEST_F(Http2OverTls, ClosesIdleConnections) {
  Limits limits;
  limits.idle_timeout = 50ms;
  Serve(limits);
  const auto connection = Connect();
  EXPECT_EQ(Open(connection, "GET", "/a")->Wait(), 0u);
  EXPECT_TRUE(testing::Eventually([&] { return Closed(connection); }));
}

TEST_F(Http2OverTls, ResetsResponsesThatAreNotRead) {
  Limits limits;
  limits.idle_timeout = 200ms;
  Serve(limits);
  http2::Limits no_window;
  no_window.stream_window = 1000;
  const auto connection = Connect(no_window);
  const auto exchange = Open(connection, "GET", "/large");
  OnThread([&] { exchange->HoldInput(); });
  EXPECT_EQ(exchange->Wait(), std::uint32_t{NGHTTP2_CANCEL});
  EXPECT_LT(exchange->received, kLargeBody);
}

TEST_F(Http2OverTls, EndsTheUploadOfABodyThatIsNotRead) {
  Serve();
  const auto connection = Connect();
  const auto exchange = Open(connection, "POST", "/unread", "the beginning", {}, false);
  EXPECT_EQ(exchange->Wait(), 0u) << "reset with NO_ERROR, although the request has not ended";
  EXPECT_EQ(exchange->status, "200");
}

TEST_F(Http2OverTls, LimitsTheRequestsOfAConnection) {
  Limits limits;
  limits.http2_streams = 2;
  Serve(limits);
  const auto connection = Connect();
  EXPECT_EQ(Open(connection, "GET", "/a")->Wait(), 0u) << "now the client has the settings of the server";
  // Requests that the client has reset still run. If they exceed four times the limit, no more are started.
  for (int i = 0; i < 9; ++i) {
    const auto exchange = Open(connection, "GET", "/wait");
    EXPECT_TRUE(testing::Eventually([&] { return running_ == i + 1; }));
    OnThread([&] { exchange->Reset(NGHTTP2_CANCEL); });
    EXPECT_NE(exchange->Wait(), 0u);
  }
  EXPECT_TRUE(TakesRequests(connection));
  EXPECT_NE(Open(connection, "GET", "/wait")->Wait(), 0u);
  EXPECT_TRUE(testing::Eventually([&] { return Closed(connection); }));
  EXPECT_EQ(running_, 9);
}

TEST_F(Http2OverTls, AProxySendsTheRequestsOfManyClientsOnOneConnection) {
  Limits limits;
  limits.http2_streams = 2;
  limits.http2_from_proxy = true;
  Serve(limits);
  const auto connection = Connect();
  EXPECT_EQ(Open(connection, "GET", "/a")->Wait(), 0u);
  for (int i = 0; i < 30; ++i) {
    const auto exchange = Open(connection, "GET", "/wait");
    EXPECT_TRUE(testing::Eventually([&] { return running_ == i + 1; }));
    if (i % 2) OnThread([&] { exchange->Reset(NGHTTP2_CANCEL); });
  }
  EXPECT_TRUE(TakesRequests(connection));
  EXPECT_EQ(Open(connection, "GET", "/a")->Wait(), 0u);
}

}  // namespace
}  // namespace apimesh::http
