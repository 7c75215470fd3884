#include "services/store/net/connection.h"

#include <fmt/format.h>
#include <sys/epoll.h>

namespace apimesh::store {
namespace {

constexpr std::string_view kH2Preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
constexpr std::size_t kMaxHttp1Header = 16 * 1024;

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
}

void Connection::OnEvents(std::uint32_t ready) {
  if (closed_) return;
  if ((ready & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) Receive();
  if (!closed_ && (ready & EPOLLOUT) != 0) events_.wants_flush(*this);
}

void Connection::Receive() {
  // One connection must not starve the others: at most a few chunks a turn; epoll reports the rest again.
  for (int i = 0; i < 4; ++i) {
    const auto outcome = stream_->Read(in_);
    if (outcome == ByteStream::Outcome::kClosed) return Close();
    if (outcome == ByteStream::Outcome::kWouldBlock) {
      // A TLS handshake may have to write before it can read on.
      return;
    }
    const std::size_t got = in_.size();
    if (!Dispatch()) return Close();
    if (got < 64 * 1024) return;
  }
}

bool Connection::Dispatch() {
  if (!h2_ && !http1_) {
    const std::size_t compared = std::min(in_.size(), kH2Preface.size());
    if (std::string_view(in_).substr(0, compared) != kH2Preface.substr(0, compared)) {
      http1_ = true;
    } else if (compared < kH2Preface.size()) {
      return true;
    } else {
      h2_ = std::make_unique<H2Session>(routes_, [this] { events_.wants_flush(*this); });
    }
  }
  if (http1_) return AnswerHttp1();
  const bool good = h2_->Receive(in_);
  in_.clear();
  // A GOAWAY that names the peer's mistake still has to go out.
  if (!good) close_after_write_ = true;
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
    out_ += fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n\r\n", answer.status,
                        ReasonPhrase(answer.status), answer.content_type, answer.body.size());
    if (!in_.starts_with("HEAD ")) out_ += answer.body;
    in_.erase(0, end + 4);
    events_.wants_flush(*this);
  }
}

void Connection::Flush() {
  if (closed_) return;
  for (;;) {
    if (out_offset_ == out_.size()) {
      out_.clear();
      out_offset_ = 0;
      if (out_.capacity() > 1024 * 1024) out_.shrink_to_fit();
      if (h2_ && !h2_->Fill(out_)) return Close();
      if (out_.empty()) break;
    }
    std::size_t written = 0;
    const auto outcome = stream_->Write(std::string_view(out_).substr(out_offset_), written);
    if (outcome == ByteStream::Outcome::kClosed) return Close();
    out_offset_ += written;
    if (outcome == ByteStream::Outcome::kWouldBlock) return WatchForWritable(true);
    if (h2_) h2_->NotifyDrained();
  }
  WatchForWritable(false);
  if (close_after_write_ || (h2_ && h2_->Finished())) Close();
}

void Connection::WatchForWritable(bool wanted) {
  if (watching_writable_ == wanted) return;
  watching_writable_ = wanted;
  loop_.Modify(stream_->Fd(), wanted ? EPOLLIN | EPOLLOUT : EPOLLIN, this);
}

void Connection::GoAway() {
  if (h2_) {
    h2_->GoAway();
    events_.wants_flush(*this);
  } else {
    Close();
  }
}

void Connection::Close() {
  if (closed_) return;
  closed_ = true;
  loop_.Remove(stream_->Fd());
  h2_.reset();
  events_.closed(*this);
}

}  // namespace apimesh::store
