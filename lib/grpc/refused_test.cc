// Calls that a server has certainly not processed are sent to another one; calls that it may have processed are not.
#include <atomic>
#include <filesystem>
#include <thread>

#include <arpa/inet.h>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nghttp2/nghttp2.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/grpc/server.h"
#include "lib/grpc/typed_call.h"
#include "lib/testing/run.h"
#include "lib/testing/system_clock.h"
#include "proto/mesh/v1/delegate.pb.h"

namespace apimesh::grpc {
namespace {

using apimesh::testing::RunTask;
using namespace std::string_literals;

constexpr const char* kMethod = "/test/Echo";
constexpr int kHeaders = 1;

std::string Number(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift);
  return bytes;
}
std::string Frame(int type, std::uint32_t stream, const std::string& body) {
  return Number(static_cast<std::uint32_t>(body.size())).substr(1) + static_cast<char>(type) + '\0' + Number(stream) +
         body;
}
std::string GoAwayAfter(std::uint32_t last) {
  return Frame(NGHTTP2_GOAWAY, 0, Number(last) + Number(NGHTTP2_NO_ERROR));
}
std::string Refuse(std::uint32_t stream) { return Frame(NGHTTP2_RST_STREAM, stream, Number(NGHTTP2_REFUSED_STREAM)); }

/// Answers the first call of each connection with the same bytes, and ends the connection.
class RefusingServer {
 public:
  explicit RefusingServer(std::string answer) : answer_(std::move(answer)) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    EXPECT_EQ(::listen(listener_, 16), 0);
    socklen_t size = sizeof(address);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    target = fmt::format("127.0.0.1:{}", ntohs(address.sin_port));
    thread_ = std::thread([this] { Serve(); });
  }
  ~RefusingServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

  std::string target;
  std::atomic<int> calls = 0;

 private:
  void Serve() {
    for (;;) {
      const int fd = ::accept(listener_, nullptr, nullptr);
      if (fd < 0) return;
      const std::string settings = Frame(NGHTTP2_SETTINGS, 0, "");
      (void)::send(fd, settings.data(), settings.size(), MSG_NOSIGNAL);
      if (WaitForCall(fd)) {
        ++calls;
        (void)::send(fd, answer_.data(), answer_.size(), MSG_NOSIGNAL);
        ::shutdown(fd, SHUT_WR);
        char rest[4096];
        while (::recv(fd, rest, sizeof(rest), 0) > 0) {}
      }
      ::close(fd);
    }
  }
  static bool WaitForCall(int fd) {
    std::string bytes;
    std::size_t at = 24;  // the preface
    char buffer[4096];
    for (;;) {
      const ssize_t n = ::recv(fd, buffer, sizeof(buffer), 0);
      if (n <= 0) return false;
      bytes.append(buffer, static_cast<std::size_t>(n));
      while (bytes.size() >= at + 9) {
        const auto byte = [&](std::size_t i) {
          return static_cast<std::size_t>(static_cast<unsigned char>(bytes[at + i]));
        };
        if (byte(3) == kHeaders) return true;
        at += 9 + (byte(0) << 16 | byte(1) << 8 | byte(2));
      }
    }
  }

  const std::string answer_;
  int listener_ = -1;
  std::thread thread_;
};

Task<mesh::v1::Response> Echo(std::atomic<int>* called, mesh::v1::Request request) {
  ++*called;
  mesh::v1::Response response;
  response.set_body(request.path());
  co_return response;
}

class Refused : public ::testing::Test {
 protected:
  static Task<UnaryResult> Call(std::shared_ptr<Channel> channel) {
    mesh::v1::Request request;
    request.set_path("/x");
    return channel->Unary(kMethod, Pack(request), CallOptions());
  }
  struct Outcome {
    int answered = 0, unsent = 0, failed = 0;
  };
  static Task<Outcome> CallOften(std::shared_ptr<Channel> channel, int count) {
    Outcome outcome;
    for (int i = 0; i < count; ++i) {
      const UnaryResult result = co_await Call(channel);
      ++(result.status.ok() ? outcome.answered : result.status.nothing_sent ? outcome.unsent : outcome.failed);
    }
    co_return outcome;
  }
};

TEST_F(Refused, OnceMoreAndNoMore) {
  for (const std::string& answer : {GoAwayAfter(0), Refuse(1) + GoAwayAfter(1)}) {
    RefusingServer refusing(answer);
    const auto channel = Channel::New({.clock = testing::SystemClock(), .target = refusing.target});
    const UnaryResult result = RunTask(Call(channel));
    EXPECT_EQ(result.status.code, Code::kUnavailable);
    EXPECT_TRUE(result.status.nothing_sent);
    EXPECT_EQ(refusing.calls, 2);
  }
}

TEST_F(Refused, NotIfItMayHaveBeenSeen) {
  for (const std::string& answer :
       {GoAwayAfter(1), std::string(), Frame(NGHTTP2_RST_STREAM, 1, Number(NGHTTP2_INTERNAL_ERROR)),
        // headers, then a refusal: a server that has sent headers has processed the call
        "\0\0\x01\x01\x04\0\0\0\x01\x88"s + Refuse(1)}) {
    RefusingServer refusing(answer);
    const auto channel = Channel::New({.clock = testing::SystemClock(), .target = refusing.target});
    const UnaryResult result = RunTask(Call(channel));
    EXPECT_FALSE(result.status.ok());
    EXPECT_EQ(refusing.calls, 1);
  }
}

TEST_F(Refused, AnotherReplicaTakesTheCall) {
  boost::asio::io_context io{1};
  const auto work = boost::asio::make_work_guard(io);
  std::thread thread([&io] { io.run(); });
  std::string folder = ::testing::TempDir() + "apimesh-refused-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::atomic<int> called = 0;
  std::function<Task<mesh::v1::Response>(mesh::v1::Request)> echo = [&called](mesh::v1::Request request) {
    return Echo(&called, std::move(request));
  };
  Methods methods;
  methods.AddUnary(kMethod, Typed<mesh::v1::Request, mesh::v1::Response>(std::move(echo)));
  auto server =
      Serve({{.address = "unix:" + folder + "/working/h2.sock"}}, std::move(methods), {&io}, testing::SystemClock());
  {
    RefusingServer refusing(GoAwayAfter(0));
    const Outcome outcome =
        RunTask(CallOften(Channel::New({.clock = testing::SystemClock(),
                                        .target = refusing.target + ",unix:" + folder + "/working/h2.sock"}),
                          20));
    EXPECT_EQ(outcome.answered, 20);
    EXPECT_EQ(called, 20);
    EXPECT_GE(refusing.calls, 1);
  }
  called = 0;
  {
    RefusingServer dying(GoAwayAfter(1));  // it has seen the call, and never responds
    const Outcome outcome =
        RunTask(CallOften(Channel::New({.clock = testing::SystemClock(),
                                        .target = dying.target + ",unix:" + folder + "/working/h2.sock"}),
                          20));
    EXPECT_EQ(outcome.failed, dying.calls);
    EXPECT_GE(outcome.failed, 1);
    EXPECT_EQ(outcome.answered, called);
    EXPECT_EQ(outcome.answered + outcome.failed, 20);
  }
  server.reset();
  io.stop();
  thread.join();
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace apimesh::grpc
