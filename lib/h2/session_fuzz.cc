// Links: lib/h2/session.cc lib/h2/stream.cc lib/h2/frame_limit.cc lib/http/transport.cc lib/http/record_buffer.cc lib/http/record_bio.cc
// Links: lib/http/record_batch.cc lib/http/record_cipher.cc lib/http/send_all.cc lib/http/traffic_secret.cc
// Links: lib/http/tls_common.cc meta PkgConfig::NGHTTP2 PkgConfig::URING OpenSSL::SSL IPSec_MB
// An HTTP/2 session as a server and as a client, with gRPC's framing and without. The peer may send any bytes, before and after a right
// beginning, in pieces of any size; the socket may be full at any time.
#include <boost/asio/io_context.hpp>

#include <cstdint>
#include <cstring>

#include "lib/h2/session.h"

using namespace apimesh;

namespace {

/// What the session reads is given by the input; what it writes is thrown away.
class MemoryTransport final : public http::Transport {
 public:
  struct State {
    std::string input;
    std::size_t piece = 1;
    unsigned fullness = 0;  // every so many writes the socket has no room; 0: never
    unsigned writes = 0;
    bool closed = false;
    std::function<void()> readable, writable;
  };
  explicit MemoryTransport(std::shared_ptr<State> state) : state_(std::move(state)) {}

  long TryRead(char* buffer, std::size_t size) override {
    if (state_->closed) return kFailed;
    if (state_->input.empty()) return kWouldBlock;
    const std::size_t count = std::min({size, state_->piece, state_->input.size()});
    std::memcpy(buffer, state_->input.data(), count);
    state_->input.erase(0, count);
    return static_cast<long>(count);
  }
  bool Buffered() const override { return false; }
  long TryWrite(std::span<const std::string_view> pieces) override {
    if (state_->closed) return kFailed;
    if (state_->fullness > 0 && ++state_->writes % state_->fullness == 0) return kWouldBlock;
    long size = 0;
    for (const std::string_view piece : pieces) {
      size += static_cast<long>(piece.size());
      if (!piece.empty()) sum_ += piece.front() + piece.back();  // all of it must be there
    }
    return size;
  }
  void Guard(std::function<bool()>) override {}
  void WaitReadable(std::function<void()> done) override { state_->readable = std::move(done); }
  void WaitWritable(std::function<void()> done) override { state_->writable = std::move(done); }
  Handshake TryHandshake() override { return Handshake::kDone; }
  void DescribePeer(http::Peer&) const override {}
  std::string Error() const override { return ""; }
  void ShutdownWrite() override {}
  void Close() override { state_->closed = true; }
  Detached Detach() override { return {}; }

 private:
  const std::shared_ptr<State> state_;
  volatile int sum_ = 0;
};

/// Answers every message, holds some of them back, and looks at all it is given.
class EchoStream final : public h2::Stream {
 public:
  EchoStream(bool server, bool grpc, unsigned behaviour)
      : Stream(grpc ? Framing::kGrpc : Framing::kNone), server_(server), behaviour_(behaviour) {}

 private:
  void OnHeader(std::string_view name, std::string_view value) override { bytes_ += name.size() + value.size(); }
  void OnHeadersDone(bool /*last*/) override {
    if (!server_ || head_sent_ || !IsOpen()) return;
    head_sent_ = true;
    session_->Respond(*this, {{":status", "200"}}, (behaviour_ & 1) != 0);
  }
  bool OnMessage(std::string message) override {
    if ((behaviour_ & 2) != 0) Reset(8);
    if (head_sent_ || !server_) Send({SharedBytes(std::move(message))});
    if ((behaviour_ & 4) != 0) return false;
    return true;
  }
  void OnRemoteEnd() override {
    ReleaseInput();
    End({{"grpc-status", "0"}});
  }
  void OnClosed(std::uint32_t) override {}

  const bool server_;
  const unsigned behaviour_;
  std::size_t bytes_ = 0;
  bool head_sent_ = false;
};

void Run(bool server, bool grpc, unsigned behaviour, const std::shared_ptr<MemoryTransport::State>& state) {
  boost::asio::io_context io;
  h2::SessionOptions options;
  options.server = server;
  options.max_message_bytes = 4096;
  options.accept = [&] { return std::make_shared<EchoStream>(true, grpc, behaviour); };
  const auto session = h2::Session::Start(io.get_executor(), std::make_unique<MemoryTransport>(state), std::move(options));
  for (int i = 0; i < 3 && !server; ++i) {
    const auto stream = std::make_shared<EchoStream>(false, grpc, behaviour);
    const h2::MetadataViews head{{":method", "POST"}, {":scheme", "http"}, {":path", "/a"}, {":authority", "b"}};
    if (session->Open(stream, head)) stream->Send({SharedBytes(std::string("hello"))});
  }
  io.poll();
  for (int turn = 0; turn < 4096 && !session->Closed() && !state->input.empty(); ++turn) {
    if (state->readable) std::exchange(state->readable, nullptr)();
    if (state->writable) std::exchange(state->writable, nullptr)();
    io.restart();
    io.poll();
  }
  if ((behaviour & 8) != 0) session->GoAway();
  if (state->writable) std::exchange(state->writable, nullptr)();
  session->Close("the end");
  io.restart();
  io.poll();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const bool server = (data[0] & 1) != 0;
  const auto state = std::make_shared<MemoryTransport::State>();
  if ((data[0] & 2) != 0) {
    if (server) state->input = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    state->input += std::string("\0\0\0\x04\0\0\0\0\0", 9);
  }
  state->input.append(reinterpret_cast<const char*>(data) + 3, size - 3);
  state->piece = 1 + data[1] * 8u;
  state->fullness = data[2] & 7;
  Run(server, (data[0] & 4) != 0, data[0] >> 4, state);
  return 0;
}
