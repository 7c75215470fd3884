#include "lib/http/connection.h"
#include "lib/http/http2/call.h"
#include "lib/http/http2/connection.h"

/// The part of a connection that serves HTTP/2.
namespace apimesh::http {
namespace {

constexpr std::chrono::milliseconds kLingerTime{1000};  // as in Go's server

}  // namespace

Task<> Connection::ServeHttp2() {
  ClearDeadline();
  idle_ = busy_ = false;
  since_ = GetClock().Steady();
  auto calls = std::make_shared<Http2Calls>(shared_, peer_, shared_from_this());
  calls_ = calls;
  Http2Options options{.clock = GetClock()};
  options.server = true;
  options.limits = ClientHttp2Limits(GetLimits());
  options.accept = [this, calls](const boost::asio::any_io_executor& executor) -> std::shared_ptr<http2::Stream> {
    if (calls->TooMany()) return nullptr;
    busy_ = true;
    return std::make_shared<Http2Call>(executor, calls);
  };
  options.closed = [this](const std::string& /*why*/) {
    Cut();
    readable_.Set();
  };
  http2_ = Http2Connection::Start(worker_.io.get_executor(), std::move(transport_), std::move(options));
  http2_->SetLinger(kLingerTime);
  calls->go_away = [weak = std::weak_ptr(http2_)] {
    if (const auto http2 = weak.lock()) http2->GoAway();
  };
  calls.reset();
  if (Draining()) http2_->GoAway();
  co_await readable_.Wait();
  http2_.reset();  // it and its calls refer to this connection
}

void Connection::CheckHttp2(SteadyTime now) {
  const auto calls = calls_.lock();
  if (!calls || closed_) return;
  if (!calls->Check(now)) return Cut();  // a head that does not end
  if (!calls->Empty()) {
    since_ = now;
  } else {
    busy_ = false;
    if (now >= since_ + GetLimits().idle_timeout) http2_->GoAway();
  }
  if (!closed_) http2_->CloseIfStalledSince(now - GetLimits().idle_timeout);
}

}  // namespace apimesh::http
