// Fuzzes the layers on top of an HTTP/2 session: gRPC calls of a server and of a client, plain HTTP requests of a
// server, and streams that use the interface in every allowed way. The peer may send any bytes, before and after a
// correct beginning, in pieces of any size; the socket may be full at any time; the connection may be closed from its
// own callbacks. At the end nothing may be left waiting.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "lib/grpc/client_stream.h"
#include "lib/grpc/server_call.h"
#include "lib/http/http2/call.h"
#include "lib/http/http2/connection.h"
#include "lib/http/test_memory_transport.h"
#include "lib/testing/manual_clock.h"

using namespace apimesh;

namespace {

apimesh::testing::ManualClock manual_clock;
const Clock& kClock = manual_clock;
constexpr std::size_t kMostBytes = 4096;  // of the body or the headers of an HTTP request

void Check(bool good, int line = __builtin_LINE()) {
  if (good) return;
  std::fprintf(stderr, "the check in line %d failed\n", line);
  std::abort();
}

// ---- the behaviour of this side, selected by the input

enum Behaviour : unsigned {
  kAnswerWithoutBody = 1,
  kReset = 2,
  kHold = 4,  // does not consume messages, so that flow control stops the sender
  kGoAway = 8,
  kCloseInCallback = 16,
  kSendMuch = 32,
  kReadBody = 64,
  kNoAnswer = 128,
};
unsigned behaviour = 0;
std::weak_ptr<http::Http2Connection> current;

bool Does(unsigned what) { return (behaviour & what) != 0; }

void MaybeClose() {
  if (!Does(kCloseInCallback)) return;
  if (const auto connection = current.lock()) connection->Close("closed in a callback");
}

SharedBytes Reply(std::string text) {
  static const SharedBytes much(std::string(300'000, 'm'));  // more than a stream should queue
  return Does(kSendMuch) ? much : SharedBytes(std::move(text));
}

boost::asio::io_context& Io() {
  static boost::asio::io_context io(1);
  return io;
}

void Spawn(Task<> task) {
  boost::asio::co_spawn(Io(), std::move(task), [](std::exception_ptr error) { Check(!error); });
}

// ---- streams without calls

class EchoStream final : public http2::Stream {
 private:
  void OnHeader(std::string_view name, std::string_view value) override { bytes_ += name.size() + value.size(); }
  void OnHeadersDone(bool /*last*/) override {
    if (std::exchange(head_sent_, true) || !IsOpen()) return;
    session_->Respond(*this, {{":status", "200"}}, Does(kAnswerWithoutBody));
  }
  void OnData(std::string_view data) override {
    Check(IsOpen());
    if (Does(kReset)) Reset(8);
    if (Does(kHold)) HoldInput();
    const SharedBytes reply = Reply(std::string(data));
    Send(std::span(&reply, 1));
    MaybeClose();
  }
  void OnRemoteEnd() override {
    Check(IsOpen());
    ReleaseInput();
    End();
  }
  void OnClosed(std::uint32_t) override {
    Check(!std::exchange(closed_, true));
    MaybeClose();
  }
  void OnBelowLowWatermark() override { MaybeClose(); }

  std::size_t bytes_ = 0;
  bool head_sent_ = false;
  bool closed_ = false;
};

// ---- a gRPC server

Task<grpc::UnaryReply> AnswerUnary(grpc::ServerCallPtr call, std::string request) {
  if (Does(kReset)) call->Reset(8);
  grpc::UnaryReply reply;
  if (Does(kAnswerWithoutBody)) reply.status = {grpc::Code::kNotFound, request};
  reply.message = {Reply(std::move(request))};
  co_return reply;
}

Task<> AnswerStream(grpc::ServerCallPtr call) {
  call->OnCancel([] { MaybeClose(); });
  if (Does(kNoAnswer)) co_return;
  for (;;) {
    std::optional<std::string> message = co_await call->Read();
    if (!message) break;
    grpc::Message reply{Reply(std::move(*message))};
    const bool open = co_await call->Write(std::move(reply));
    if (!open || Does(kHold)) break;
  }
  if (Does(kReset)) call->Reset(8);
  call->Finish({grpc::Code::kAborted, "\xff %"});
}

std::shared_ptr<http2::Stream> NewServerCall(const boost::asio::any_io_executor& executor) {
  static const auto methods = [] {
    grpc::Methods made;
    for (const char* path : {"/", "/a", "/no"}) made.AddUnary(path, &AnswerUnary);
    made.AddStream("/s", &AnswerStream);
    return std::make_shared<const grpc::Methods>(std::move(made));
  }();
  static const auto caller = std::make_shared<const grpc::Caller>(grpc::Caller{"a caller", {"/a", "/s", "/"}});
  return std::make_shared<grpc::ServerCall>(executor, methods, kClock, Does(kNoAnswer) ? nullptr : caller);
}

// ---- an HTTP server

Task<> AnswerHttp(http::Request request, http::ResponseWriter& writer) {
  writer.OnDisconnect([] { MaybeClose(); });
  std::string body = request.target;
  Check(!body.empty());
  if (Does(kReadBody) && writer.HasBody()) {
    http::BodyResult read = co_await writer.ReadBody(http::BodyTerms());
    if (read) body = std::move(*read);
    Check(body.size() <= kMostBytes);
  }
  if (Does(kNoAnswer)) co_return;
  const std::vector<SharedBytes> pieces{Reply(body), SharedBytes(body)};
  http::Headers headers{{"content-type", "text/plain"}, {"location", request.target}};
  if (!Does(kHold)) {
    co_await writer.Send(Does(kAnswerWithoutBody) ? 304 : 200, std::move(headers), pieces);
    co_return;
  }
  co_await writer.Start(200, std::move(headers), true);
  const http::Chunk chunk(pieces);
  for (int i = 0; i < 3; ++i) {
    const bool taken = writer.TryWrite(chunk);
    if (!taken) co_await writer.Write(pieces);
  }
  if (!Does(kReset)) co_await writer.Finish();
}

std::shared_ptr<http2::Stream> NewHttpCall(const boost::asio::any_io_executor& executor) {
  static const auto shared = [] {
    auto made = std::make_shared<http::ServerShared>(kClock);
    made->handler = &AnswerHttp;
    made->limits.header_bytes = made->limits.body_bytes = kMostBytes;
    return made;
  }();
  auto calls = std::make_shared<http::Http2Calls>(shared, std::make_shared<const net::Peer>(), nullptr);
  return std::make_shared<http::Http2Call>(executor, std::move(calls));
}

// ---- a gRPC client

void Open(const std::shared_ptr<grpc::ClientStream>& stream) {
  const auto connection = current.lock();
  if (connection && connection->Open(stream, stream->Head("b", false))) return stream->OnOpen();
  stream->Abandon({grpc::Code::kUnavailable, "", true});
}

Task<> CallUnary(std::shared_ptr<grpc::ClientStream> stream) {
  auto start = [stream](Waiter<grpc::UnaryResult> waiter) {
    stream->BecomeUnary({Reply("hello")}, std::move(waiter));
    Open(stream);
  };
  const grpc::UnaryResult result = co_await Suspend<grpc::UnaryResult>(std::move(start));
  Check(result.status.ok() || result.message.empty());
  MaybeClose();
}

Task<> CallStream(std::shared_ptr<grpc::ClientStream> stream) {
  Open(stream);
  for (;;) {
    auto read = [stream](Waiter<std::optional<std::string>> waiter) { stream->Read(std::move(waiter)); };
    const std::optional<std::string> message = co_await Suspend<std::optional<std::string>>(std::move(read));
    if (!message) break;
    auto write = [stream](Waiter<bool> waiter) { stream->Write({Reply("hello")}, std::move(waiter)); };
    co_await Suspend<bool>(std::move(write));
    MaybeClose();
    if (Does(kReset)) stream->Abandon({grpc::Code::kCancelled, "enough"});
    if (Does(kHold)) break;
  }
  stream->WritesDone();
  auto finish = [stream](Waiter<grpc::Status> waiter) { stream->Finish(std::move(waiter)); };
  co_await Suspend<grpc::Status>(std::move(finish));
}

// ---- the connection

enum class Kind { kServerCalls, kHttpCalls, kClientCalls, kStreams };

std::shared_ptr<http2::Stream> NewStream(Kind kind, const boost::asio::any_io_executor& executor) {
  if (kind == Kind::kServerCalls) return NewServerCall(executor);
  if (kind == Kind::kHttpCalls) return NewHttpCall(executor);
  return std::make_shared<EchoStream>();
}

void MakeCalls() {
  for (int i = 0; i < 3; ++i) {
    const grpc::CallOptions options{.deadline = kClock.Steady() + std::chrono::hours(1)};
    const auto stream = std::make_shared<grpc::ClientStream>("/a", options, kClock);
    Spawn(i == 0 ? CallUnary(stream) : CallStream(stream));
  }
}

void Poll() {
  Io().restart();
  Io().poll();
}

void Run(Kind kind, const std::shared_ptr<http::MemoryTransport::State>& state) {
  http::Http2Options options{.clock = kClock};
  options.server = kind != Kind::kClientCalls;
  options.accept = [kind](const boost::asio::any_io_executor& executor) { return NewStream(kind, executor); };
  auto transport = std::make_unique<http::MemoryTransport>(state);
  const auto connection = http::Http2Connection::Start(Io().get_executor(), std::move(transport), std::move(options));
  current = connection;
  if (kind == Kind::kClientCalls) MakeCalls();
  Poll();
  while (!connection->Closed() && !state->input.empty()) {
    state->Wake();
    Poll();
  }
  if (Does(kGoAway)) connection->GoAway();
  state->Wake();
  connection->Close("the end");
  Poll();
  Check(Io().stopped() && connection->Streams().empty());  // no coroutine waits, no timer runs
}

/// Four bytes and the payload that they describe make a frame: type, flags, stream, length.
std::string ToFrames(std::string_view bytes) {
  std::string frames;
  while (bytes.size() >= 4) {
    const std::string_view payload = bytes.substr(4, static_cast<unsigned char>(bytes[3]));
    frames += {'\0', '\0', static_cast<char>(payload.size()), bytes[0], bytes[1], '\0', '\0', '\0', bytes[2]};
    frames += payload;
    bytes.remove_prefix(4 + payload.size());
  }
  return frames;
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  // Timers use the real clock. Deadlines that are in its past would expire at once, again and again.
  manual_clock.Advance(std::chrono::hours(24 * 3650));
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const auto kind = static_cast<Kind>(data[0] & 3);
  const bool preface = (data[0] & 16) != 0, framed = (data[0] & 32) != 0;
  behaviour = data[1];
  std::string input;
  if (preface && kind != Kind::kClientCalls) input = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
  if (preface) input += std::string("\0\0\0\x04\0\0\0\0\0", 9);  // SETTINGS
  const std::string_view rest(reinterpret_cast<const char*>(data) + 4, size - 4);
  input += framed ? ToFrames(rest) : rest;
  const auto state = std::make_shared<http::MemoryTransport::State>();
  state->input = input;
  state->buffered = (data[0] & 64) != 0;
  state->fail_every = data[2] & 7;
  // At most 64 turns of the event loop, which take most of the time.
  state->piece = std::max<std::size_t>(1 + data[3] * 8u, input.size() / 64);
  Run(kind, state);
  return 0;
}
