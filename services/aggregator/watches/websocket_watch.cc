#include "services/aggregator/watches/websocket_watch.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <boost/asio/this_coro.hpp>

#include "lib/base/async/signal.h"
#include "lib/base/text/text.h"
#include "lib/websocket/frame_reader.h"
#include "lib/websocket/frame_writer.h"
#include "lib/websocket/handshake.h"
#include "services/aggregator/auth/revocable_end.h"
#include "services/aggregator/delegation/audit_headers.h"
#include "services/aggregator/watches/event_messages.h"

namespace apimesh::aggregator {
namespace {

/// Answers to pings that wait for the events before them. A client that sends more pings without reading is closed.
constexpr std::size_t kMaxWaitingPongs = 4096;

/// Whether kube-apiserver takes the header for an origin: a URL or an absolute path. Browsers always send one.
bool IsOrigin(std::string_view origin) {
  if (origin.empty() || origin == "null") return false;
  if (origin.front() == '/' || origin == "*") return true;
  const std::string_view scheme = origin.substr(0, origin.find(':'));
  if (scheme.size() == origin.size() || scheme.empty() || !std::isalpha(static_cast<unsigned char>(scheme.front())))
    return false;
  return std::all_of(scheme.begin(), scheme.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.'; });
}

/// The client's end of the watch. Must be used on the thread of its connection only.
class SocketStream final : public mesh::ResponseStream {
 public:
  explicit SocketStream(Exchange& exchange) : exchange_(exchange) {}

  Task<bool> WriteHead(int code, mesh::Headers headers) override {
    TakeAuditHeaders(headers, exchange_);
    if (code != 200) {
      CloseAfterResponse();
      responds_ = true;
      co_return co_await exchange_.reply.Start(code, std::move(headers), false);
    }
    if (exchange_.slot) exchange_.slot->Release();  // the watch waits for events
    std::string_view type;
    for (const auto& [name, value] : headers) {
      if (name == "content-type") type = value;
    }
    const bool json = type.starts_with("application/json");
    events_.emplace(json);
    opcode_ = json ? websocket::Opcode::kText : websocket::Opcode::kBinary;
    co_return co_await Upgrade();
  }

  Task<bool> Write(std::vector<SharedBytes> pieces) override {
    if (responds_) co_return co_await exchange_.reply.Write(std::move(pieces));
    std::string frames;
    for (const SharedBytes& piece : pieces) {
      events_->Append(piece.View());
      while (const std::optional<std::string_view> event = events_->Next())
        frames += websocket::EncodeFrame(opcode_, *event);
    }
    if (frames.empty()) co_return open_;
    while (writing_) co_await idle_.Wait();
    co_return co_await Send(std::move(frames));
  }

  Task<bool> WriteComplete(mesh::Response response) override {
    TakeAuditHeaders(response.headers, exchange_);
    CloseAfterResponse();
    co_return co_await exchange_.reply.Send(response.code, std::move(response.headers), std::move(response.body));
  }
  void Abort() override {
    if (cancelled_) return;  // ended by this process or by the client: a regular end
    if (responds_) exchange_.reply.Abort();
    responds_ = false;
    Cut();
  }
  void OnCancel(std::function<void()> callback) override {
    if (cancelled_) return callback();
    cancel_ = std::move(callback);
  }

  /// Ends the watch.
  void Cancel() {
    cancelled_ = true;
    if (const auto cancel = std::exchange(cancel_, nullptr)) cancel();
    // A write that is not finished waits for the client to read.
    if (writing_) Cut();
  }

  /// Must be called when the upstream has ended.
  Task<> Finish() {
    cancel_ = nullptr;
    upgraded_.Set();
    if (responds_) co_await exchange_.reply.Finish();
    if (!client_) co_return;
    while (writing_) co_await idle_.Wait();
    co_await Send(websocket::EncodeClose(close_code_));
    Cut();
  }

  /// Reads until the client closes the connection, and answers its pings.
  Task<> ReadClient() {
    co_await upgraded_.Wait();
    if (!client_) co_return;
    websocket::FrameReader reader;
    for (bool more = true; more && open_;) {
      const std::string data = co_await client_->Read();
      if (data.empty()) break;
      std::string_view input = data;
      while (const std::optional<websocket::Part> part = reader.Next(input)) {
        if (part->opcode == websocket::Opcode::kPing) co_await Pong(part->data);
        if (part->opcode == websocket::Opcode::kClose) more = false;
        if (!more || !open_) break;
      }
      if (!reader.Error().empty()) {
        close_code_ = websocket::kProtocolError;
        more = false;
      }
    }
    Cancel();
  }

  /// Must be called at the end, because posted calls of Cancel() may refer to the object for longer.
  void Release() { client_.reset(); }

 private:
  /// Returns false if the handshake was refused, with the codes of kube-apiserver.
  Task<bool> Upgrade() {
    const http::Request& request = exchange_.request;
    const std::string_view key = request.Header("sec-websocket-key"), version = request.Header("sec-websocket-version");
    if (const auto refusal = websocket::Check({request.method, key, version})) {
      if (version != websocket::kVersion)
        exchange_.reply.SetHeader("sec-websocket-version", std::string(websocket::kVersion));
      co_return co_await Refuse(refusal->code, refusal->text);
    }
    if (!IsOrigin(request.Header("origin"))) co_return co_await Refuse(403, "");
    const auto protocols = websocket::Subprotocols(request.Header("sec-websocket-protocol"));
    if (protocols.size() > 1) co_return co_await Refuse(400, "");  // none of them would be selected
    const std::string_view protocol = protocols.empty() ? std::string_view() : protocols.front();
    http::Headers headers = websocket::AnswerHeaders(key, protocol);
    client_ = co_await exchange_.reply.Upgrade(std::move(headers));
    open_ = client_ != nullptr;
    upgraded_.Set();
    co_return open_;
  }

  /// The client may already have sent messages. They must never be parsed as a request.
  void CloseAfterResponse() { exchange_.reply.SetHeader("connection", "close"); }

  Task<bool> Refuse(int code, std::string_view text) {
    CloseAfterResponse();
    co_await exchange_.reply.SendText(code, "text/plain; charset=utf-8", std::string(text));
    co_return false;
  }

  Task<> Pong(std::string_view payload) {
    pongs_ += websocket::EncodeFrame(websocket::Opcode::kPong, payload);
    if (pongs_.size() > kMaxWaitingPongs) {
      Cut();
    } else if (!writing_) {
      co_await Send("");
    }
  }

  /// Writes the frames, and the answers to pings that arrive meanwhile. Nobody else may be writing.
  Task<bool> Send(std::string frames) {
    writing_ = true;
    frames += std::exchange(pongs_, {});
    while (open_ && !frames.empty()) {
      const bool written = co_await client_->Write(std::move(frames));
      open_ = open_ && written;
      frames = std::exchange(pongs_, {});
    }
    writing_ = false;
    idle_.Set();
    co_return open_;
  }

  void Cut() {
    open_ = false;
    if (client_) client_->Close();
  }

  Exchange& exchange_;
  std::unique_ptr<http::RawConnection> client_;  // nullptr before the upgrade
  Signal upgraded_;                              // set after the upgrade, or when there is none
  std::optional<EventMessages> events_;          // set with a head of 200
  websocket::Opcode opcode_ = websocket::Opcode::kText;
  std::uint16_t close_code_ = websocket::kNormalClosure;
  std::string pongs_;
  bool responds_ = false;  // an error as an ordinary stream
  bool open_ = false;      // messages can be sent
  bool writing_ = false;
  Signal idle_;  // set when writing_ becomes false
  bool cancelled_ = false;
  std::function<void()> cancel_;  // cancels the upstream
};

Task<> Pump(std::shared_ptr<SocketStream> stream, mesh::DelegateClient* client, mesh::Request request) {
  co_await client->Stream(std::move(request), *stream);
  co_await stream->Finish();
}

}  // namespace

bool AsksForWebSocket(const http::Request& request) {
  return request.method == "GET" && LowerCase(request.Header("upgrade")) == "websocket";
}

Task<> ForwardWebSocketWatch(Exchange& exchange, mesh::DelegateClient& client, mesh::Request request,
                             Lifecycle& lifecycle, OpenRequests& open_requests) {
  using namespace boost::asio::experimental::awaitable_operators;
  const auto stream = std::make_shared<SocketStream>(exchange);
  const auto executor = co_await boost::asio::this_coro::executor;
  const RevocableEnd end(executor, [stream] { stream->Cancel(); }, [&exchange] { exchange.reply.Abort(); });
  const std::function<void()> stop = end.Callback();
  exchange.reply.OnDisconnect(stop);
  std::shared_ptr<void> registration = lifecycle.OnDrain(stop);
  std::shared_ptr<void> open;
  if (exchange.grounds) open = open_requests.Add(std::move(*exchange.grounds), stop, exchange.clock.Steady());
  Task<> pump = Pump(stream, &client, std::move(request));
  Task<> reader = stream->ReadClient();
  co_await (std::move(pump) && std::move(reader));
  open.reset();
  registration.reset();
  exchange.reply.OnDisconnect(nullptr);
  stream->Release();
}

}  // namespace apimesh::aggregator
