// Links: lib/grpc/message.cc lib/grpc/server_stream.cc lib/grpc/percent.cc http2
// Fuzzes an HTTP/2 session as a server and as a client, with and without gRPC messages. All services and the store use
// this session. The peer may send any bytes, after a correct beginning or not, in pieces of any size; the socket may be
// full at any time or accept only a part of the output.
#include <cstdint>
#include <string>
#include <vector>

#include "lib/grpc/server_stream.h"
#include "lib/http2/session.h"
#include "lib/testing/manual_clock.h"

using namespace apimesh;

namespace {

constexpr std::size_t kMaxMessageBytes = 4096;

/// The behaviour of a stream, selected by the bits of the input.
struct Behaviour {
  bool respond_at_once = false;  // with headers that end the response
  bool reset = false;            // when a message arrives
  bool hold = false;             // hold the input until the peer has ended
  bool leave = false;            // GOAWAY after the input
};

/// A gRPC call on the server that answers each message with the same message.
class GrpcServerStream final : public grpc::ServerStream {
 public:
  explicit GrpcServerStream(const Behaviour& behaviour) : ServerStream(kMaxMessageBytes), behaviour_(behaviour) {}

 private:
  void OnHeadersDone(bool /*last*/) override {
    if (!IsGrpc() && !Finished()) return RespondPlain({{":status", "415"}}, true);
    if (behaviour_.respond_at_once) SendStatus({grpc::Code::kUnimplemented, Path()});
  }
  void OnData(std::string_view data) override {
    while (!data.empty() && IsOpen()) {
      const auto outcome = message_reader_.Read(data);
      if (outcome == grpc::MessageReader::Outcome::kIncomplete) return;
      if (outcome != grpc::MessageReader::Outcome::kMessage) {
        SendStatus({grpc::Code::kResourceExhausted, "100% too large"});
        return;
      }
      if (behaviour_.reset) Reset(8);
      if (behaviour_.hold) HoldInput();
      const SharedBytes message(message_reader_.Take());
      SendMessage(std::span(&message, 1));
    }
  }
  void OnRemoteEnd() override {
    ReleaseInput();
    SendStatus({});
  }
  void OnClosed(std::uint32_t) override {}

  const Behaviour behaviour_;
};

/// Any other stream: echoes the received bytes, and also parses them as messages.
class EchoStream final : public http2::Stream {
 public:
  EchoStream(bool server, const Behaviour& behaviour) : server_(server), behaviour_(behaviour) {}

 private:
  void OnHeader(std::string_view name, std::string_view value) override { bytes_ += name.size() + value.size(); }
  void OnHeadersDone(bool /*last*/) override {
    if (!server_ || std::exchange(head_sent_, true) || !IsOpen()) return;
    session_->Respond(*this, {{":status", "200"}}, behaviour_.respond_at_once);
  }
  void OnData(std::string_view data) override {
    std::string_view rest = data;
    while (readable_ && !rest.empty()) {
      const auto outcome = reader_.Read(rest);
      if (outcome == grpc::MessageReader::Outcome::kMessage) bytes_ += reader_.View().size();
      readable_ =
          outcome == grpc::MessageReader::Outcome::kMessage || outcome == grpc::MessageReader::Outcome::kIncomplete;
    }
    if (behaviour_.reset) Reset(8);
    if (behaviour_.hold) HoldInput();
    const SharedBytes piece{std::string(data)};
    Send(std::span(&piece, 1));
  }
  void OnRemoteEnd() override {
    ReleaseInput();
    End(std::make_shared<const http2::Headers>(http2::Headers{{"grpc-status", "0"}}));
  }
  void OnClosed(std::uint32_t) override {}

  const bool server_;
  const Behaviour behaviour_;
  grpc::MessageReader reader_{kMaxMessageBytes};
  bool readable_ = true;
  std::size_t bytes_ = 0;
  bool head_sent_ = false;
};

/// A socket that is sometimes full, or accepts only a part of the bytes.
struct Socket {
  unsigned fullness = 0;  // full once in this many writes; 0: never
  unsigned writes = 0;
  volatile int sum = 0;

  void Flush(http2::Session& session) {
    for (auto pieces = session.Output(); !pieces.empty(); pieces = session.Output()) {
      const bool full = fullness > 0 && ++writes % fullness == 0;
      if (full && fullness % 2 == 0) return;
      std::size_t size = 0;
      for (const std::string_view piece : pieces) {
        size += piece.size();
        if (!piece.empty()) sum = sum + piece.front() + piece.back();  // reads the bytes, which must be valid
      }
      if (!full) {
        session.Written(size);
        continue;
      }
      session.Written((size + 1) / 2);
      return;
    }
  }
};

void Run(bool server, bool use_grpc, const Behaviour& behaviour, std::string_view input, std::size_t piece,
         Socket socket) {
  static const testing::ManualClock clock;
  http2::SessionOptions options{.clock = clock};
  options.server = server;
  options.accept = [&]() -> std::shared_ptr<http2::Stream> {
    if (use_grpc) return std::make_shared<GrpcServerStream>(behaviour);
    return std::make_shared<EchoStream>(true, behaviour);
  };
  http2::Session session(std::move(options));
  for (int i = 0; i < 3 && !server; ++i) {
    const auto stream = std::make_shared<EchoStream>(false, behaviour);
    const http2::HeaderViews head{{":method", "POST"}, {":scheme", "http"}, {":path", "/a"}, {":authority", "b"}};
    const SharedBytes hello(std::string("hello"));
    if (session.Open(stream, head)) stream->Send(std::span(&hello, 1), grpc::MessagePrefix(hello.size()));
  }
  socket.Flush(session);
  while (!input.empty() && session.Receive(input.substr(0, piece)) && session.Error().empty() && !session.Finished()) {
    input.remove_prefix(std::min(piece, input.size()));
    socket.Flush(session);
  }
  if (behaviour.leave) session.GoAway();
  socket.Flush(session);
  session.Terminate();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const bool server = (data[0] & 1) != 0;
  std::string input;
  if ((data[0] & 2) != 0) {
    if (server) input = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    input += std::string("\0\0\0\x04\0\0\0\0\0", 9);
  }
  input.append(reinterpret_cast<const char*>(data) + 3, size - 3);
  const Behaviour behaviour{(data[0] & 16) != 0, (data[0] & 32) != 0, (data[0] & 64) != 0, (data[0] & 128) != 0};
  Run(server, (data[0] & 4) != 0, behaviour, input, 1 + data[1] * 8u, {.fullness = data[2] & 7u});
  return 0;
}
