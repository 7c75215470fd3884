#include "services/core-api/connect/websocket/remote_command.h"

#include <boost/asio/experimental/awaitable_operators.hpp>
#include <fmt/format.h>

#include "lib/spdy/client_session.h"
#include "services/core-api/connect/websocket/client_socket.h"
#include "services/core-api/connect/websocket/command_status.h"
#include "services/core-api/connect/websocket/negotiation.h"
#include "services/core-api/connect/websocket/spdy_upgrade.h"

namespace apimesh::core_api {
namespace {

// The kubelet answers an upgrade after its container runtime has accepted the command, for which it waits two minutes.
constexpr std::chrono::minutes kUpgradeTimeout{2};
constexpr std::chrono::seconds kOpenTimeout{30};  // from the upgrade until all streams are open
constexpr std::chrono::seconds kPingPeriod{5};
constexpr std::chrono::hours kIdleTimeout{4};
constexpr std::size_t kMaxReportBytes = 64 << 10;  // in the error stream

/// The first byte of a message of the client's WebSocket.
enum Channel : unsigned char { kStdin, kStdout, kStderr, kStatus, kResize, kChannels, kCloseSignal = 255 };

/// A command whose kubelet is connected. Three coroutines of one executor run it: one reads from each side, and one
/// sends pings and replies to the kubelet. The coroutine that reads from the kubelet never waits for the kubelet to
/// read, because a kubelet that waits for its output to be read may not read.
class RemoteCommand {
 public:
  RemoteCommand(ClientSocket& client, KubeletConnection kubelet, CommandStreams streams, const Clock& clock)
      : client_(client),
        kubelet_(std::move(kubelet)),
        streams_(streams),
        clock_(clock),
        writer_(*kubelet_.connection) {}

  Task<> Run() {
    using namespace boost::asio::experimental::awaitable_operators;
    OpenStreams();
    open_deadline_ = clock_.Steady() + kOpenTimeout;
    last_activity_ = clock_.Steady();
    co_await (FromKubelet() && FromClient() && Attend());
  }

 private:
  /// Ends the session when one of its coroutines ends, also by an exception.
  struct Ending {
    RemoteCommand& command;
    ~Ending() { command.End(); }
  };

  void OpenStreams() {
    const auto open = [this](std::string_view type) {
      ++unopened_;
      return session_.Open({{"streamtype", std::string(type)}});
    };
    report_stream_ = open("error");
    if (streams_.in) in_ = open("stdin");
    if (streams_.out) out_ = open("stdout");
    if (streams_.error && !streams_.tty) error_ = open("stderr");
    if (streams_.tty) resize_ = open("resize");
  }

  void End() {
    ended_ = true;
    kubelet_.connection->Close();
    opened_->Wake();
    attention_->Wake();
  }

  Task<bool> Flush() {
    for (;;) {
      if (!session_.HasOutput()) co_return true;
      const bool open = co_await writer_.Write(session_.TakeOutput());
      if (!open) co_return false;
    }
  }

  /// Pings the kubelet, sends replies to it, and watches the time.
  Task<> Attend() {
    SteadyTime next_ping = clock_.Steady() + kPingPeriod;
    for (;;) {
      if (ended_) co_return;
      attention_ = Wakeup::New();
      const bool flushed = co_await Flush();
      if (!flushed) co_return;  // the coroutine that reads from the kubelet notices the same
      if (ended_) co_return;
      const bool woken = co_await Wakeup::Wait(attention_, next_ping);
      if (woken || ended_) continue;
      const SteadyTime now = clock_.Steady();
      if (unopened_ > 0 && now >= open_deadline_) {
        Fail("Timeout occurred");
        co_return;
      }
      if (now - last_activity_ >= kIdleTimeout) {
        client_.Abort();
        End();
        co_return;
      }
      session_.Ping();
      next_ping = now + kPingPeriod;
    }
  }

  void Fail(std::string_view message) {
    if (failure_.empty()) failure_ = message;
    End();
  }

  Task<> FromClient() {
    const Ending ending{*this};
    // A kubelet ignores data in a stream that it has not accepted yet.
    co_await Wakeup::Wait(opened_);
    for (;;) {
      if (ended_) co_return;
      const std::optional<websocket::Part> part = co_await client_.Next();
      if (!part || !OnPart(*part)) break;
      if (kubelet_reads_) kubelet_reads_ = co_await Flush();
      // A kubelet that reads nothing more may still report how the command ended.
      if (!kubelet_reads_) session_.TakeOutput();
    }
    if (ended_) co_return;  // the other side has ended the session
    client_ended_ = true;
    co_await client_.Close(websocket::kNormalClosure);
  }

  /// Returns false if the client broke the protocol.
  bool OnPart(const websocket::Part& part) {
    last_activity_ = clock_.Steady();
    std::string_view data = part.data;
    if (part.first) {
      channel_.reset();
      signal_.clear();
    }
    if (!channel_ && !data.empty()) {
      channel_ = static_cast<unsigned char>(data.front());
      data.remove_prefix(1);
    }
    if (!channel_) return true;
    if (*channel_ == kCloseSignal) {
      signal_ += data.substr(0, 2);
      if (signal_.size() > 1) return false;
      return !part.last || OnCloseSignal();
    }
    if (*channel_ == kStdin && in_ != 0) session_.Send(in_, data);
    if (*channel_ == kResize && resize_ != 0 && !resize_closed_) session_.Send(resize_, data);
    return true;  // data for other channels is ignored
  }

  bool OnCloseSignal() {
    if (signal_.size() != 1) return false;
    const auto closed = static_cast<unsigned char>(signal_.front());
    if (closed >= kChannels) return false;
    if (closed == kStdin && in_ != 0) session_.End(in_);
    if (closed == kResize) resize_closed_ = true;
    return true;
  }

  Task<> FromKubelet() {
    const Ending ending{*this};
    for (;;) {
      const std::string data = co_await kubelet_.connection->Read();
      if (data.empty()) break;
      std::string_view input = data;
      const bool open = co_await Deliver(input);
      if (!open) break;
      if (!session_.Error().empty()) Fail(fmt::format("the kubelet sent an invalid SPDY frame: {}", session_.Error()));
      if (ended_ || Finished()) break;
      if (session_.HasOutput()) attention_->Wake();
    }
    if (client_ended_) co_return;
    const std::string status = Status();
    ended_ = true;
    const bool open = co_await client_.Send(std::string_view("\x03"), status);
    if (open) co_await client_.Close(websocket::kNormalClosure);
    client_.Abort();
  }

  /// Handles the events of `input`. Returns false if the client is gone.
  Task<bool> Deliver(std::string_view& input) {
    for (;;) {
      const std::optional<spdy::Event> event = session_.Next(input);
      if (!event) co_return true;
      if (event->kind != spdy::Event::Kind::kData) {
        OnEvent(*event);
        continue;
      }
      last_activity_ = clock_.Steady();
      if (event->stream == report_stream_) {
        report_ += event->data;
        if (report_.size() > kMaxReportBytes) Fail("the kubelet sent too much in the error stream");
      } else if (event->stream == out_ || event->stream == error_) {
        const char channel[] = {event->stream == out_ ? static_cast<char>(kStdout) : static_cast<char>(kStderr)};
        const bool open = co_await client_.Send(std::string_view(channel, 1), event->data);
        if (!open) co_return false;
      }
    }
  }

  void OnEvent(const spdy::Event& event) {
    switch (event.kind) {
      case spdy::Event::Kind::kOpened:
        if (--unopened_ == 0) opened_->Wake();
        break;
      case spdy::Event::Kind::kEnded:
        if (unopened_ > 0 && event.reset) Fail("Stream reset");
        if (event.stream == report_stream_) report_ended_ = true;
        if (event.stream == out_) out_ended_ = true;
        if (event.stream == error_) error_ended_ = true;
        if (event.stream == in_) session_.End(in_);  // the container runtime waits for this
        break;
      case spdy::Event::Kind::kGoAway: gone_away_ = true; break;
      default: break;
    }
  }

  bool Finished() const {
    return gone_away_ || (report_ended_ && (out_ == 0 || out_ended_) && (error_ == 0 || error_ended_));
  }

  std::string Status() const {
    if (!failure_.empty()) return FailedCommand(failure_);
    if (report_ended_ || gone_away_) return EndedCommand(kubelet_.protocol, report_);
    return FailedCommand("the connection to the kubelet was lost before the command ended");
  }

  ClientSocket& client_;
  const KubeletConnection kubelet_;
  const CommandStreams streams_;
  const Clock& clock_;
  SerialWriter<http::RawConnection> writer_;
  spdy::ClientSession session_{spdy::Limits()};
  // The ids of the streams; 0: not requested.
  std::uint32_t report_stream_ = 0, in_ = 0, out_ = 0, error_ = 0, resize_ = 0;
  int unopened_ = 0;  // streams that the kubelet has not accepted yet
  std::shared_ptr<Wakeup> opened_ = Wakeup::New();
  std::shared_ptr<Wakeup> attention_ = Wakeup::New();  // wakes Attend()
  SteadyTime open_deadline_, last_activity_;
  // The current message of the client:
  std::optional<unsigned char> channel_;
  std::string signal_;
  bool resize_closed_ = false;
  std::string report_;  // of the error stream
  bool report_ended_ = false, out_ended_ = false, error_ended_ = false, gone_away_ = false;
  bool kubelet_reads_ = true, ended_ = false, client_ended_ = false;
  std::string failure_;
};

Task<> ReportFailure(ClientSocket& client, std::string message) {
  const std::string status = FailedCommand(message);
  const bool open = co_await client.Send(std::string_view("\x03"), status);
  if (open) co_await client.Close(websocket::kNormalClosure);
}

}  // namespace

Task<> TranslateCommand(mesh::Request request, mesh::ConnectStream& stream, std::shared_ptr<http::Client> client,
                        std::string url, CommandStreams streams, const Clock& clock) {
  if (std::optional<mesh::Response> refusal = RefusedHandshake(request)) {
    co_await stream.Answer(std::move(*refusal));
    co_return;
  }
  ClientSocket socket(stream);
  const bool accepted = co_await socket.Accept(std::move(request), std::string(kStreamCloseProtocol));
  if (!accepted) co_return;
  // As in kube-apiserver, the first message is empty: it confirms that the connection is established.
  const char channel[] = {static_cast<char>(streams.out ? kStdout : streams.error ? kStderr : kStatus)};
  const bool open = co_await socket.Send(std::string_view(channel, 1), std::string_view());
  if (!open) co_return;
  const SteadyTime deadline = clock.Steady() + kUpgradeTimeout;
  auto kubelet = co_await ConnectBySpdy(std::move(client), std::move(url), deadline);
  if (!kubelet) {
    co_await ReportFailure(socket, kubelet.error().message);
    co_return;
  }
  RemoteCommand command(socket, std::move(*kubelet), streams, clock);
  co_await command.Run();
}

}  // namespace apimesh::core_api
