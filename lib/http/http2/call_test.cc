#include "lib/http/http2/call.h"

#include <filesystem>
#include <future>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/base/async/wakeup.h"
#include "lib/base/test_memory.h"
#include "lib/http/http2/server.h"
#include "lib/http/refusal.h"
#include "lib/testing/system_clock.h"

namespace apimesh::http {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;

constexpr std::size_t kPieces = 60;
std::string PieceBody(std::size_t i) { return std::string(i * 997 % 50'000 + 1, static_cast<char>('a' + i % 26)); }
std::string AllPieces() {
  std::string all;
  for (std::size_t i = 0; i < kPieces; ++i) all += PieceBody(i);
  return all;
}

constexpr std::size_t kSharedBytes = 100'000;

/// Sends a piece of shared memory, which is overwritten before the client's window has room for it. If `revoked` is
/// set, it sends another piece afterwards, which is revoked while it is copied.
Task<> SendShared(ResponseWriter& writer, bool revoked) {
  std::string shared(kSharedBytes, 'a');
  const auto memory = std::make_shared<TestMemory>();
  co_await writer.Start(200, Headers(), false);
  std::vector<SharedBytes> pieces(1, SharedBytes::InRevocableMemory(memory, shared));
  const bool sent = co_await writer.Write(pieces);
  EXPECT_TRUE(sent);
  shared.assign(kSharedBytes, 'b');
  memory->valid = false;
  if (revoked) {
    const bool sent_again = co_await writer.Write(pieces);
    EXPECT_FALSE(sent_again);
  } else {
    co_await writer.Finish();
  }
}

/// One request and its complete response, on the session's thread.
class Exchange final : public http2::Stream {
 public:
  int code = 0;
  http2::Headers headers;
  std::string body;
  std::uint32_t error = 0;
  bool read = true;  // false: does not consume the received data, so that flow control stops the sender
  std::atomic<std::size_t> received{0};
  std::atomic<bool> ended{false};
  std::promise<void> done;

 private:
  void OnHeader(std::string_view name, std::string_view value) override {
    if (name == ":status") {
      code = std::stoi(std::string(value));
    } else {
      headers.emplace_back(name, value);
    }
  }
  void OnData(std::string_view data) override {
    body += data;
    received = body.size();
    if (!read) HoldInput();
  }
  void OnRemoteEnd() override { ended = true; }
  void OnClosed(std::uint32_t error_code) override {
    error = error_code;
    done.set_value();
  }
};

class HttpOverH2 : public ::testing::Test {
 protected:
  HttpOverH2() : work_(io_.get_executor()), thread_([this] { io_.run(); }) {
    std::string pattern = ::testing::TempDir() + "apimesh-h2-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    const std::string path = (folder_ / "s" / "h2.sock").string();
    Limits limits;
    limits.body_bytes = 100'000;
    limits.header_bytes = 4000;
    auto handler = [this](Request request, ResponseWriter& writer) { return Handle(std::move(request), writer); };
    server_ = ServeHttp2({{.address = "unix:" + path}}, handler, limits, {&io_}, testing::SystemClock());
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, sizeof(name.sun_path) - 1);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
    OnThread([&] {
      const Clock& clock = testing::SystemClock();
      auto transport = net::NewTransport(io_.get_executor(), fd, nullptr, clock);
      connection_ = Http2Connection::Start(io_.get_executor(), std::move(transport), {.clock = clock});
    });
  }
  ~HttpOverH2() override {
    OnThread([&] { connection_->Close("the test ends"); });
    server_.reset();
    OnThread([] {});
    work_.reset();
    io_.stop();
    thread_.join();
    std::filesystem::remove_all(folder_);
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
  void Open(const std::shared_ptr<Exchange>& exchange, std::string_view method, std::string_view path,
            std::string body = "", const http2::HeaderViews& more = {}, bool end = true) {
    OnThread([&] {
      http2::HeaderViews head{{":method", method}, {":scheme", "http"}, {":path", path}, {":authority", "a"}};
      head.insert(head.end(), more.begin(), more.end());
      ASSERT_TRUE(connection_->Open(exchange, head));
      const SharedBytes piece(std::move(body));
      if (!piece.empty()) exchange->Send(std::span(&piece, 1));
      if (end) exchange->End();
    });
  }
  std::shared_ptr<Exchange> Do(std::string_view method, std::string_view path, std::string body = "",
                               const http2::HeaderViews& more = {}) {
    auto exchange = std::make_shared<Exchange>();
    Open(exchange, method, path, std::move(body), more);
    EXPECT_EQ(exchange->done.get_future().wait_for(10s), std::future_status::ready) << method << " " << path;
    return exchange;
  }

  Task<> Handle(Request request, ResponseWriter& writer) {
    Headers headers{{"content-type", "text/plain"}, {"x-evil", "a\r\nb: c"}, {"connection", "close"}};
    if (request.target == "/throw") throw std::runtime_error("broken");
    if (request.target == "/nothing") co_return;
    if (request.target == "/copied" || request.target == "/revoked") {
      co_await SendShared(writer, request.target == "/revoked");
      co_return;
    }
    if (request.target == "/pieces" || request.target == "/broken-off") {
      co_await writer.Start(200, std::move(headers), true);
      for (std::size_t i = 0; i < kPieces; ++i) {
        std::vector<SharedBytes> pieces;
        pieces.emplace_back(PieceBody(i));
        if (writer.TryWrite(Chunk(pieces))) {
          ++eager_;
          continue;
        }
        if (!co_await writer.Write(std::move(pieces))) co_return;
      }
      if (request.target == "/pieces") co_await writer.Finish();
      co_return;
    }
    if (request.target == "/wait") {
      co_await writer.Start(200, std::move(headers), false);
      writer.OnDisconnect([this] { gone_ = true; });
      while (!gone_) co_await SleepFor(2ms);
      co_return;
    }
    std::string text = request.method + " " + request.target + " host=" + std::string(request.Header("host")) + " ";
    if (request.target == "/denied") {
      std::vector<SharedBytes> nothing;
      co_await writer.Send(401, std::move(headers), std::move(nothing));
      co_return;
    }
    while (request.target == "/late" && !gone_) co_await SleepFor(2ms);
    if (writer.HasBody()) {
      BodyTerms terms;
      const auto read = co_await writer.ReadBody(std::move(terms));
      if (!read) {
        const Refusal refusal = read.error();
        const RefusalBodyFn plain = &PlainRefusalBody;
        co_await SendRefusal(writer, refusal, plain);
        co_return;
      }
      text += *read;
    }
    std::vector<SharedBytes> body;
    body.emplace_back(std::move(text));
    co_await writer.Send(request.target == "/none" ? 204 : 200, std::move(headers), std::move(body));
  }

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
  std::filesystem::path folder_;
  std::unique_ptr<Http2Server> server_;
  std::shared_ptr<Http2Connection> connection_;
  std::atomic<int> eager_{0};
  std::atomic<bool> gone_{false};
};

TEST_F(HttpOverH2, BytesInSharedMemoryAreCopiedBeforeTheyWaitForTheClient) {
  const auto answer = Do("GET", "/copied");
  EXPECT_EQ(answer->error, 0);
  EXPECT_EQ(answer->body, std::string(kSharedBytes, 'a'));
}

TEST_F(HttpOverH2, BytesThatWereRevokedAreNotSent) {
  const auto answer = Do("GET", "/revoked");
  EXPECT_NE(answer->error, 0) << "the answer should have broken off";
  EXPECT_EQ(answer->body.find('b'), std::string::npos);
}

TEST_F(HttpOverH2, AnswersWholeRequests) {
  const auto get = Do("GET", "/a?b=c");
  EXPECT_EQ(get->code, 200);
  EXPECT_EQ(get->body, "GET /a?b=c host=a ");
  EXPECT_THAT(get->headers, Contains(::testing::Pair("content-length", std::to_string(get->body.size()))));
  EXPECT_THAT(get->headers, Contains(::testing::Pair("x-evil", "a  b: c"))) << "no line breaks";
  EXPECT_THAT(get->headers, ::testing::Not(Contains(::testing::Pair("connection", "close")))) << "HTTP/1.1's";
  EXPECT_EQ(Do("POST", "/p", std::string(90'000, 'x'))->body, "POST /p host=a " + std::string(90'000, 'x'));
}

TEST_F(HttpOverH2, SomeAnswersHaveNoBody) {
  const auto head = Do("HEAD", "/a");
  EXPECT_EQ(head->code, 200);
  EXPECT_EQ(head->body, "");
  EXPECT_THAT(head->headers, Contains(::testing::Pair("content-length", "15")));
  EXPECT_EQ(Do("GET", "/none")->code, 204);
}

TEST_F(HttpOverH2, RefusesWhatIsTooLarge) {
  const auto body = Do("POST", "/p", std::string(100'001, 'x'));
  EXPECT_EQ(body->code, 413);
  EXPECT_THAT(body->body, ::testing::HasSubstr("limit is 100000"));
  const std::string value(5000, 'v');
  EXPECT_EQ(Do("GET", "/a", "", {{"x-large", value}})->code, 431);
  EXPECT_EQ(Do("GET", "/a")->code, 200) << "the connection goes on";
}

TEST_F(HttpOverH2, RefusesByTheHeadAlone) {
  auto exchange = std::make_shared<Exchange>();
  Open(exchange, "POST", "/denied", "", {}, false);
  EXPECT_TRUE(testing::Eventually([&] { return exchange->ended.load(); }));
  EXPECT_EQ(exchange->code, 401) << "answered before any of the body";
  OnThread([&] { exchange->Reset(NGHTTP2_CANCEL); });
  const std::string large(3 << 20, 'x');
  EXPECT_EQ(Do("POST", "/denied", large)->code, 401) << "what nobody reads is thrown away";
  const auto announced = Do("POST", "/a", "", {{"content-length", "100001"}});
  EXPECT_EQ(announced->code, 413);
}

TEST_F(HttpOverH2, HoldsTheBodyBackUntilItIsRead) {
  auto exchange = std::make_shared<Exchange>();
  Open(exchange, "POST", "/late", std::string(600'000, 'x'));
  while (Do("GET", "/a")->code != 200) {}
  std::this_thread::sleep_for(20ms);  // time in which a server without flow control receives everything
  bool held = false;
  OnThread([&] { held = exchange->AboveHighWatermark(); });
  EXPECT_TRUE(held) << "more than 256 KiB are still with the client";
  gone_ = true;
  EXPECT_EQ(exchange->done.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_EQ(exchange->code, 413);
}

TEST_F(HttpOverH2, StreamsAtTheReadersPace) {
  auto slow = std::make_shared<Exchange>();
  slow->read = false;
  Open(slow, "GET", "/pieces");
  const auto fast = Do("GET", "/pieces");
  EXPECT_TRUE(fast->body == AllPieces());
  EXPECT_GT(eager_, 0);
  // Only the window of the slow stream is full.
  EXPECT_LT(slow->received, AllPieces().size());
  OnThread([&] {
    slow->read = true;
    slow->ReleaseInput();
  });
  EXPECT_EQ(slow->done.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(slow->body == AllPieces());
}

TEST_F(HttpOverH2, TellsWhenTheClientGoes) {
  auto exchange = std::make_shared<Exchange>();
  Open(exchange, "GET", "/wait");
  while (Do("GET", "/a")->code != 200) {}
  EXPECT_FALSE(gone_);
  OnThread([&] { exchange->Reset(NGHTTP2_CANCEL); });
  EXPECT_TRUE(testing::Eventually([&] { return gone_.load(); }));
}

TEST_F(HttpOverH2, WhatBreaksOffLooksBroken) {
  EXPECT_EQ(Do("GET", "/throw")->code, 500);
  EXPECT_EQ(Do("GET", "/nothing")->code, 500);
  const auto broken = Do("GET", "/broken-off");
  EXPECT_EQ(broken->code, 200);
  EXPECT_NE(broken->error, 0u) << "an end that is none";
  EXPECT_EQ(Do("GET", "/a")->code, 200) << "the connection goes on";
}

TEST_F(HttpOverH2, DrainsInOrder) {
  auto exchange = std::make_shared<Exchange>();
  exchange->read = false;
  Open(exchange, "GET", "/pieces");
  EXPECT_TRUE(testing::Eventually([&] { return exchange->received > 0; }));
  std::thread drain([&] { server_->Drain(5s); });
  const auto goes_away = [&] {
    bool takes_requests = true;
    OnThread([&] { takes_requests = connection_->TakesRequests(); });
    return !takes_requests;
  };
  EXPECT_TRUE(testing::Eventually(goes_away));
  OnThread([&] {
    exchange->read = true;
    exchange->ReleaseInput();
  });
  EXPECT_EQ(exchange->done.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(exchange->body == AllPieces())
      << exchange->body.size() << " bytes, error " << exchange->error << ": what is under way is finished";
  drain.join();
}

}  // namespace
}  // namespace apimesh::http
