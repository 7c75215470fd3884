#include "services/core-api/connect/websocket/remote_command.h"

#include <deque>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/spdy/byte_order.h"
#include "lib/spdy/frame_writer.h"
#include "lib/spdy/header_block.h"
#include "lib/testing/system_clock.h"
#include "lib/websocket/test_client_frame.h"
#include "services/core-api/connect/websocket/serial_writer.h"

namespace apimesh::core_api {
namespace {

namespace asio = boost::asio;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using websocket::ClientFrame;
using websocket::Opcode;

/// A side of a connection that sends the prepared pieces, and then waits until the connection is closed.
class Script {
 public:
  Task<std::string> Read() {
    if (!pieces.empty()) {
      std::string piece = std::move(pieces.front());
      pieces.pop_front();
      co_return piece;
    }
    if (!ends && !closed) {
      waiting = Wakeup::New();
      co_await Wakeup::Wait(waiting);
    }
    co_return std::string();
  }
  Task<bool> Write(std::string data) {
    written += data;
    co_return !closed;
  }
  void Close() {
    closed = true;
    if (waiting) waiting->Wake();
  }

  std::deque<std::string> pieces;
  bool ends = false;  // the connection ends after the pieces
  bool closed = false;
  std::string written;
  std::shared_ptr<Wakeup> waiting;
};

class ClientEnd final : public mesh::ConnectStream {
 public:
  explicit ClientEnd(Script& script) : script_(script) {}
  Task<bool> Answer(mesh::Response head) override {
    code = head.code;
    co_return true;
  }
  Task<meta::Result<std::string>> Read() override {
    std::string data = co_await script_.Read();
    co_return data;
  }
  Task<bool> Write(std::string data) override { return script_.Write(std::move(data)); }
  void Close() override { script_.Close(); }
  int code = 0;

 private:
  Script& script_;
};

class KubeletEnd final : public http::RawConnection {
 public:
  explicit KubeletEnd(Script& script) : script_(script) {}
  Task<std::string> Read() override { return script_.Read(); }
  Task<bool> Write(std::string data) override { return script_.Write(std::move(data)); }
  void Close() override { script_.Close(); }

 private:
  Script& script_;
};

class KubeletClient final : public http::Client {
 public:
  explicit KubeletClient(Script& script) : script_(script) {}
  Task<http::ClientResult<http::ClientResponse>> Do(std::string, std::string, http::Headers, std::string,
                                                    SteadyTime) override {
    co_return http::ClientError{};
  }
  Task<http::ClientResult<http::ClientResponse>> Stream(std::string, std::string, http::Headers, std::string,
                                                        std::function<Task<bool>(int, http::Headers)>, PieceFn,
                                                        SteadyTime) override {
    co_return http::ClientError{};
  }
  Task<http::ClientResult<Upgraded>> Upgrade(std::string, std::string, http::Headers, SteadyTime) override {
    Upgraded upgraded;
    upgraded.response.code = 101;
    upgraded.response.headers = {{"upgrade", "SPDY/3.1"}, {"x-stream-protocol-version", "v4.channel.k8s.io"}};
    upgraded.connection = std::make_unique<KubeletEnd>(script_);
    co_return upgraded;
  }

 private:
  Script& script_;
};

class RemoteCommandTest : public ::testing::Test {
 protected:
  /// Runs exec with input and output, whose streams are 1 (error), 3 (stdin) and 5 (stdout).
  void Run() {
    mesh::Request request;
    request.method = "GET";
    request.headers = {{"sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="}, {"sec-websocket-version", "13"}};
    CommandStreams streams;
    streams.in = streams.out = true;
    ClientEnd end(client_);
    asio::io_context io{1};
    auto task = TranslateCommand(std::move(request), end, std::make_shared<KubeletClient>(kubelet_),
                                 "https://node/exec", streams, apimesh::testing::SystemClock());
    auto done = asio::co_spawn(io, std::move(task), asio::use_future);
    io.run();
    done.get();
    EXPECT_EQ(end.code, 101);
  }
  /// The kubelet accepts the streams.
  std::string Opened(std::initializer_list<std::uint32_t> streams = {1, 3, 5}) {
    std::string frames;
    for (const std::uint32_t stream : streams) {
      std::string payload;
      spdy::AppendUint32(payload, stream);
      spdy::AppendControl(frames, spdy::Type::kSynReply, 0, payload + compressor_.Compress({}));
    }
    return frames;
  }
  static std::string Data(std::uint32_t stream, std::string_view data, bool fin = false) {
    std::string frame;
    spdy::AppendData(frame, stream, data, fin);
    return frame;
  }

  Script client_, kubelet_;
  spdy::HeaderCompressor compressor_;
};

TEST_F(RemoteCommandTest, OutputPrecedesTheStatus) {
  kubelet_.pieces = {Opened() + Data(5, "out"), Data(5, "", true) + Data(1, R"({"status":"Success"})", true)};
  Run();
  EXPECT_EQ(client_.written,
            std::string("\x82\x01\x01\x82\x04\x01out\x82\x23\x03{\"metadata\":{},\"status\":\"Success\"}"
                        "\x88\x02\x03\xe8"));
  EXPECT_TRUE(kubelet_.closed);
}

TEST_F(RemoteCommandTest, InputIsSentWhenTheStreamsAreOpen) {
  client_.pieces = {ClientFrame(Opcode::kBinary, std::string("\0in", 3)) +
                    ClientFrame(Opcode::kBinary, std::string("\xff\0", 2)) +
                    ClientFrame(Opcode::kBinary, std::string("\0late", 5)) + ClientFrame(Opcode::kClose, "")};
  kubelet_.pieces = {Opened({1, 3})};
  kubelet_.pieces.push_back(Opened({5}));
  Run();
  EXPECT_THAT(kubelet_.written, EndsWith(Data(3, "in") + Data(3, "", true)));
  EXPECT_THAT(client_.written, EndsWith("\x88\x02\x03\xe8"));
  EXPECT_TRUE(kubelet_.closed);
}

TEST_F(RemoteCommandTest, LostConnectionIsAnError) {
  kubelet_.pieces = {Opened() + Data(5, "out")};
  kubelet_.ends = true;
  Run();
  EXPECT_THAT(client_.written, HasSubstr("the connection to the kubelet was lost before the command ended"));
}

TEST_F(RemoteCommandTest, EndOfTheSessionIsTheEndOfTheCommand) {
  std::string goaway;
  spdy::AppendGoAway(goaway, 0);
  kubelet_.pieces = {Opened() + Data(1, R"({"status":"Success"})") + goaway};
  Run();
  EXPECT_THAT(client_.written, HasSubstr(R"("status":"Success")"));
}

TEST_F(RemoteCommandTest, RefusedStreamIsAnError) {
  std::string reset;
  spdy::AppendRstStream(reset, 3, spdy::kRefusedStream);
  kubelet_.pieces = {reset};
  Run();
  EXPECT_THAT(client_.written, HasSubstr("Internal error occurred: Stream reset"));
}

TEST_F(RemoteCommandTest, InvalidFrameIsAnError) {
  kubelet_.pieces = {std::string(8, '\0')};  // data without a stream
  Run();
  EXPECT_THAT(client_.written, HasSubstr("the kubelet sent an invalid SPDY frame: "));
}

TEST_F(RemoteCommandTest, EndlessStatusIsAnError) {
  kubelet_.pieces = {Opened() + Data(1, std::string(100'000, 'x'))};
  Run();
  EXPECT_THAT(client_.written, HasSubstr("the kubelet sent too much in the error stream"));
}

TEST_F(RemoteCommandTest, BrokenClientIsDisconnected) {
  client_.pieces = {"\x02\x01x12345"};  // not masked
  kubelet_.pieces = {Opened()};
  Run();
  EXPECT_THAT(client_.written, EndsWith("\x88\x02\x03\xea"));
  EXPECT_TRUE(kubelet_.closed);
}

TEST(SerialWriter, WritesInTheOrderOfTheCalls) {
  struct Slow {
    Task<bool> Write(std::string data) {
      co_await SleepFor(std::chrono::milliseconds(1));
      written += data;
      co_return true;
    }
    std::string written;
  } slow;
  SerialWriter<Slow> writer(slow);
  asio::io_context io{1};
  for (const char* text : {"a", "b", "c"}) asio::co_spawn(io, writer.Write(text), asio::use_future);
  io.run();
  EXPECT_EQ(slow.written, "abc");
}

}  // namespace
}  // namespace apimesh::core_api
