#include <cstring>
#include <filesystem>
#include <thread>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/grpc/server.h"
#include "lib/http/http2/server.h"
#include "lib/http2/test_frames.h"
#include "lib/testing/system_clock.h"

namespace apimesh::grpc {
namespace {

using http2::Frame;
using http2::kEndHeaders;
using http2::kEndStream;
using http2::kGet;
using http2::kPreface;

struct Flood {
  const char* name;
  std::string (*part)(std::uint32_t i);  // sent repeatedly
  bool open_stream = false;              // sent after a request whose body is not finished
};

const Flood kFloods[] = {
    {"Ping", [](std::uint32_t) { return Frame(NGHTTP2_PING, 0, 0, "12345678"); }},
    {"PingAck", [](std::uint32_t) { return Frame(NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, "12345678"); }},
    {"Settings", [](std::uint32_t) { return Frame(NGHTTP2_SETTINGS, 0, 0, {"\0\4\0\0\xff\xff", 6}); }},
    {"EmptySettings", [](std::uint32_t) { return Frame(NGHTTP2_SETTINGS, 0, 0, ""); }},
    {"Priority", [](std::uint32_t i) { return Frame(NGHTTP2_PRIORITY, 0, 2 * i + 1, {"\0\0\0\0\x10", 5}); }},
    {"WindowUpdate", [](std::uint32_t) { return Frame(NGHTTP2_WINDOW_UPDATE, 0, 0, {"\0\0\0\1", 4}); }},
    {"RapidReset",
     [](std::uint32_t i) {
       return Frame(NGHTTP2_HEADERS, kEndHeaders | kEndStream, 2 * i + 1, kGet) +
              Frame(NGHTTP2_RST_STREAM, 0, 2 * i + 1, {"\0\0\0\x08", 4});
     }},
    {"EmptyData", [](std::uint32_t) { return Frame(NGHTTP2_DATA, 0, 1, ""); }, true},
    {"Continuation",
     [](std::uint32_t i) {
       return i == 0 ? Frame(NGHTTP2_HEADERS, 0, 1, kGet) : Frame(NGHTTP2_CONTINUATION, 0, 1, "\x84");
     }},
    // Adds a header of 4,000 bytes to the table, and then refers to it 10,000 times per request.
    {"HeaderBomb",
     [](std::uint32_t i) {
       const std::string first = std::string(kGet) + "\x40\x01x\x7f\xa1\x1e" + std::string(4000, 'y');
       return Frame(NGHTTP2_HEADERS, kEndHeaders | kEndStream, 2 * i + 1,
                    i == 0 ? first : std::string(kGet) + std::string(10'000, '\xbe'));
     }},
};

struct Case {
  Flood flood;
  bool http;   // a listener for a front proxy; otherwise one of the mesh
  bool reads;  // the client reads the responses
};

class Http2Flood : public ::testing::TestWithParam<Case> {
 protected:
  Http2Flood() : work_(io_.get_executor()), thread_([this] { io_.run(); }) {
    std::string pattern = ::testing::TempDir() + "apimesh-flood-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    path_ = (folder_ / "s" / "flood.sock").string();
    const std::vector<Listener> listeners{{.address = "unix:" + path_}};
    Methods methods;
    methods.AddUnary("/a/B", [](ServerCallPtr, std::string request) { return Echo(std::move(request)); });
    http::Limits limits;
    if (GetParam().http) {
      http_server_ = http::ServeHttp2({{.address = "unix:" + path_}}, Answer, limits, {&io_}, testing::SystemClock());
    } else {
      server_ = Serve(listeners, std::move(methods), {&io_}, testing::SystemClock());
    }
  }
  ~Http2Flood() override {
    server_.reset();
    http_server_.reset();
    io_.stop();
    thread_.join();
    std::filesystem::remove_all(folder_);
  }
  static Task<UnaryReply> Echo(std::string request) {
    UnaryReply reply;
    reply.message.emplace_back(std::move(request));
    co_return reply;
  }
  static Task<> Answer(http::Request, http::ResponseWriter& writer) {
    http::Headers headers;
    std::vector<SharedBytes> body;
    co_await writer.Send(200, std::move(headers), std::move(body));
  }
  int Connect() const {
    const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    std::strncpy(name.sun_path, path_.c_str(), sizeof(name.sun_path) - 1);
    EXPECT_EQ(::connect(fd, reinterpret_cast<sockaddr*>(&name), sizeof(name)), 0);
    const timeval limit{10, 0};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    return fd;
  }

  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::thread thread_;
  std::filesystem::path folder_;
  std::string path_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<http::Http2Server> http_server_;
};

TEST_P(Http2Flood, EndsTheConnection) {
  const Flood& flood = GetParam().flood;
  const int fd = Connect();
  std::thread reader([fd, reads = GetParam().reads] {
    char bytes[65536];
    while (reads && ::recv(fd, bytes, sizeof(bytes), 0) > 0) {}
  });
  std::string begin = kPreface;
  if (flood.open_stream) begin += Frame(NGHTTP2_HEADERS, kEndHeaders, 1, kGet);
  ASSERT_EQ(::send(fd, begin.data(), begin.size(), MSG_NOSIGNAL), static_cast<ssize_t>(begin.size()));
  constexpr std::uint32_t kMost = 2'000'000;
  std::uint32_t sent = 0;
  bool closed = false;
  while (sent < kMost && !closed) {
    std::string batch;
    while (batch.size() < 60'000) batch += flood.part(sent++);
    closed =
        ::send(fd, batch.data(), batch.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(batch.size()) && errno != EAGAIN;
    ASSERT_TRUE(closed || errno != EAGAIN || sent >= kMost) << "the server neither reads nor closes after " << sent;
  }
  EXPECT_TRUE(closed) << "still open after " << sent;
  ::shutdown(fd, SHUT_RDWR);
  reader.join();
  ::close(fd);
}

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (const Flood& flood : kFloods) {
    for (const bool http : {true, false}) {
      for (const bool reads : {true, false}) cases.push_back({flood, http, reads});
    }
  }
  return cases;
}
INSTANTIATE_TEST_SUITE_P(Table, Http2Flood, ::testing::ValuesIn(AllCases()), [](const auto& info) {
  return std::string(info.param.flood.name) + (info.param.http ? "OverHttp" : "OverGrpc") +
         (info.param.reads ? "" : "Unread");
});

}  // namespace
}  // namespace apimesh::grpc
