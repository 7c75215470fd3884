#include "lib/h2/http_call.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <filesystem>
#include <future>
#include <thread>

#include "lib/base/wakeup.h"
#include "lib/h2/server.h"
#include "lib/h2/session.h"
#include "lib/http/refusal.h"

namespace apimesh::h2 {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::Pair;

constexpr std::size_t kPieces = 60;
std::string PieceBody(std::size_t i) { return std::string(i * 997 % 50'000 + 1, static_cast<char>('a' + i % 26)); }
std::string AllPieces() {
  std::string all;
  for (std::size_t i = 0; i < kPieces; ++i) all += PieceBody(i);
  return all;
}

/// One request and all of its answer, on the session's thread.
class Exchange final : public Stream {
 public:
  Exchange() : Stream(Framing::kNone) {}

  int code = 0;
  Metadata headers;
  std::string body;
  std::uint32_t error = 0;
  bool read = true;  // false: leaves what comes to the sender
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
  bool OnMessage(std::string data) override {
    body += data;
    received = body.size();
    return read;
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
    http::Limits limits;
    limits.body_bytes = 100'000;
    limits.header_bytes = 4000;
    auto handler = [this](http::Request request, http::ResponseWriter& writer) { return Handle(std::move(request), writer); };
    server_ = ServeHttp({{.address = "unix:" + path}}, handler, limits, {&io_});
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    path.copy(name.sun_path, sizeof(name.sun_path) - 1);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
    OnThread([&] { session_ = Session::Start(io_.get_executor(), http::NewTransport(io_.get_executor(), fd, nullptr), {}); });
  }
  ~HttpOverH2() override {
    OnThread([&] { session_->Close("the test ends"); });
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
  void Open(const std::shared_ptr<Exchange>& exchange, std::string_view method, std::string_view path, std::string body = "",
            const MetadataViews& more = {}, bool end = true) {
    OnThread([&] {
      MetadataViews head{{":method", method}, {":scheme", "http"}, {":path", path}, {":authority", "a"}};
      head.insert(head.end(), more.begin(), more.end());
      ASSERT_TRUE(session_->Open(exchange, head));
      if (!body.empty()) exchange->Send({SharedBytes(std::move(body))});
      if (end) exchange->End();
    });
  }
  std::shared_ptr<Exchange> Do(std::string_view method, std::string_view path, std::string body = "", const MetadataViews& more = {}) {
    auto exchange = std::make_shared<Exchange>();
    Open(exchange, method, path, std::move(body), more);
    EXPECT_EQ(exchange->done.get_future().wait_for(10s), std::future_status::ready) << method << " " << path;
    return exchange;
  }

  Task<> Handle(http::Request request, http::ResponseWriter& writer) {
    http::Headers headers{{"content-type", "text/plain"}, {"x-evil", "a\r\nb: c"}, {"connection", "close"}};
    if (request.target == "/throw") throw std::runtime_error("broken");
    if (request.target == "/nothing") co_return;
    if (request.target == "/pieces" || request.target == "/broken-off") {
      co_await writer.Start(200, std::move(headers), true);
      for (std::size_t i = 0; i < kPieces; ++i) {
        std::vector<SharedBytes> pieces;
        pieces.emplace_back(PieceBody(i));
        if (writer.TryWrite(http::Chunk(pieces))) {
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
      while (!gone_) co_await SleepUntil(std::chrono::steady_clock::now() + 2ms);
      co_return;
    }
    std::string text = request.method + " " + request.target + " host=" + std::string(request.Header("host")) + " ";
    if (request.target == "/denied") {
      co_await http::SendError(writer, meta::Unauthorized());
      co_return;
    }
    while (request.target == "/late" && !gone_) co_await SleepUntil(std::chrono::steady_clock::now() + 2ms);
    if (writer.HasBody()) {
      http::BodyTerms terms;
      const auto read = co_await writer.ReadBody(std::move(terms));
      if (!read) {
        co_await http::SendError(writer, read.error());
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
  std::unique_ptr<Server> server_;
  std::shared_ptr<Session> session_;
  std::atomic<int> eager_{0};
  std::atomic<bool> gone_{false};
};

TEST_F(HttpOverH2, AnswersWholeRequests) {
  const auto get = Do("GET", "/a?b=c");
  EXPECT_EQ(get->code, 200);
  EXPECT_EQ(get->body, "GET /a?b=c host=a ");
  EXPECT_THAT(get->headers, Contains(Pair("content-length", std::to_string(get->body.size()))));
  EXPECT_THAT(get->headers, Contains(Pair("x-evil", "a  b: c"))) << "no line breaks";
  EXPECT_THAT(get->headers, ::testing::Not(Contains(Pair("connection", "close")))) << "HTTP/1.1's";
  EXPECT_EQ(Do("POST", "/p", std::string(90'000, 'x'))->body, "POST /p host=a " + std::string(90'000, 'x'));
}

TEST_F(HttpOverH2, SomeAnswersHaveNoBody) {
  const auto head = Do("HEAD", "/a");
  EXPECT_EQ(head->code, 200);
  EXPECT_EQ(head->body, "");
  EXPECT_THAT(head->headers, Contains(Pair("content-length", "15")));
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
  for (int i = 0; i < 5000 && !exchange->ended; ++i) std::this_thread::sleep_for(1ms);
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
  while (Do("GET", "/a")->code != 200) {
  }
  std::this_thread::sleep_for(20ms);
  bool held = false;
  OnThread([&] { held = exchange->Crowded(); });
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
  // The slow one's window is full, and only that.
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
  while (Do("GET", "/a")->code != 200) {
  }
  EXPECT_FALSE(gone_);
  OnThread([&] { exchange->Reset(NGHTTP2_CANCEL); });
  for (int i = 0; i < 5000 && !gone_; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(gone_);
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
  while (exchange->received == 0) std::this_thread::sleep_for(1ms);
  std::thread drain([&] { server_->Drain(5s); });
  std::this_thread::sleep_for(20ms);
  OnThread([&] {
    exchange->read = true;
    exchange->ReleaseInput();
  });
  EXPECT_EQ(exchange->done.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(exchange->body == AllPieces()) << exchange->body.size() << " bytes, error " << exchange->error << ": what is under way is finished";
  drain.join();
}

}  // namespace
}  // namespace apimesh::h2
