#include "services/store/net/connection.h"

#include <fmt/format.h>
#include <sys/epoll.h>

namespace apimesh::store {
namespace {

constexpr std::string_view kHttp2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::size_t kMaxHttp1Header = 16 * 1024;
constexpr int kReadsPerTurn = 4;
// A watch stream gets no more events while more than 4 MiB are queued for its client, until less than 512 KiB are
// queued.
constexpr http2::Limits kLimits{.stream_window = 4 << 20, .high_watermark = 4 << 20, .low_watermark = 512 << 10};

const char* ReasonPhrase(int status) {
  if (status == 200) return "OK";
  return status == 404 ? "Not Found" : "Service Unavailable";
}

}  // namespace

Connection::Connection(EventLoop& loop, std::unique_ptr<ByteStream> stream, const Routes& routes, Events events)
    : loop_(loop), stream_(std::move(stream)), routes_(routes), events_(std::move(events)) {
  loop_.Add(stream_->Fd(), EPOLLIN, this);
}

Connection::~Connection() {
  if (!closed_) loop_.Remove(stream_->Fd());
  if (http2_) http2_->Terminate();
}

void Connection::OnEvents(std::uint32_t ready) {
  if (closed_) return;
  if ((ready & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) Receive();
  if (!closed_ && (ready & EPOLLOUT) != 0) events_.wants_flush(*this);
}

void Connection::Receive() {
  // The number of reads is limited, so that one connection does not starve the others. epoll reports the remaining
  // bytes again.
  for (int i = 0; i < kReadsPerTurn; ++i) {
    std::string_view bytes;
    const auto outcome = stream_->Read(bytes);
    if (outcome == ByteStream::Outcome::kClosed) return Close();
    if (outcome == ByteStream::Outcome::kWouldBlock) return;
    if (!Dispatch(bytes)) return Close();
    if (bytes.size() < ByteStream::kReadBytes) return;
  }
}

bool Connection::Dispatch(std::string_view bytes) {
  if (http2_) return ReceiveHttp2(bytes);
  in_.append(bytes);
  if (!http1_) {
    const std::size_t compared = std::min(in_.size(), kHttp2Preface.size());
    if (std::string_view(in_).substr(0, compared) != kHttp2Preface.substr(0, compared)) {
      http1_ = true;
    } else if (compared < kHttp2Preface.size()) {
      return true;
    }
  }
  if (http1_) return AnswerHttp1();
  StartHttp2();
  return ReceiveHttp2(std::exchange(in_, {}));
}

void Connection::StartHttp2() {
  http2::SessionOptions options{.clock = loop_.GetClock(), .server = true, .limits = kLimits};
  options.accept = [this] { return std::make_shared<Call>(routes_); };
  options.wants_write = [this] { events_.wants_flush(*this); };
  http2_ = std::make_unique<http2::Session>(std::move(options));
}

bool Connection::ReceiveHttp2(std::string_view bytes) {
  // After a protocol error, a GOAWAY that names the error may have to be written before the connection is closed.
  if (!http2_->Receive(bytes)) close_after_write_ = true;
  if (watching_writable_ && http2_->TooManyQueuedFrames()) return false;
  events_.wants_flush(*this);
  return true;
}

bool Connection::AnswerHttp1() {
  for (;;) {
    const std::size_t end = in_.find("\r\n\r\n");
    if (end == std::string::npos) return in_.size() < kMaxHttp1Header;
    const std::size_t space = in_.find(' ');
    const std::size_t path_end = space == std::string::npos ? space : in_.find(' ', space + 1);
    if (path_end == std::string::npos || path_end > end) return false;
    const HttpAnswer answer = routes_.http(std::string_view(in_).substr(space + 1, path_end - space - 1));
    const std::size_t written = out_.size() - unwritten_.size();
    out_ += fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n", answer.status,
                        ReasonPhrase(answer.status), answer.content_type, answer.body.size());
    if (!in_.starts_with("HEAD ")) out_ += answer.body;
    in_.erase(0, end + 4);
    unwritten_ = std::string_view(out_).substr(written);
    events_.wants_flush(*this);
  }
}

std::span<const std::string_view> Connection::Output() {
  if (http2_) return http2_->Output();
  if (unwritten_.empty()) return {};
  return {&unwritten_, 1};
}

void Connection::Written(std::size_t size) {
  if (http2_) return http2_->Written(size);
  unwritten_.remove_prefix(size);
  if (unwritten_.empty()) out_.clear();
}

void Connection::Flush() {
  if (closed_) return;
  for (;;) {
    const auto pieces = Output();
    if (pieces.empty()) break;
    std::size_t written = 0;
    const auto outcome = stream_->Write(pieces, written);
    if (outcome == ByteStream::Outcome::kClosed) return Close();
    if (outcome == ByteStream::Outcome::kWouldBlock) return WatchForWritable(true);
    Written(written);
  }
  WatchForWritable(false);
  if (close_after_write_ || (http2_ && (http2_->Finished() || !http2_->Error().empty()))) Close();
}

void Connection::WatchForWritable(bool wanted) {
  if (watching_writable_ == wanted) return;
  watching_writable_ = wanted;
  loop_.Modify(stream_->Fd(), wanted ? EPOLLIN | EPOLLOUT : EPOLLIN, this);
}

void Connection::GoAway() {
  if (!http2_) return Close();
  http2_->GoAway();
  events_.wants_flush(*this);
}

void Connection::Close() {
  if (closed_) return;
  closed_ = true;
  loop_.Remove(stream_->Fd());
  if (http2_) http2_->Terminate();
  events_.closed(*this);
}

}  // namespace apimesh::store
