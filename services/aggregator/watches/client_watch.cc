#include "services/aggregator/watches/client_watch.h"

#include <charconv>

#include "services/aggregator/delegation/audit_headers.h"

namespace apimesh::aggregator {
namespace {

/// A client that reconnects resumes from its last bookmark, so it receives a final one this long before its watch ends.
constexpr auto kFinalBookmarkLead = std::chrono::seconds(2);

std::optional<std::chrono::milliseconds> TakeTimeout(mesh::Headers& headers) {
  const auto found = std::find_if(headers.begin(), headers.end(),
                                  [](const auto& header) { return header.first == mesh::kWatchTimeoutHeader; });
  if (found == headers.end()) return std::nullopt;
  std::int64_t count = 0;
  std::from_chars(found->second.data(), found->second.data() + found->second.size(), count);
  headers.erase(found);
  return std::chrono::milliseconds(count);
}

}  // namespace

ClientWatch::ClientWatch(Exchange& exchange, boost::asio::any_io_executor executor, bool wants_bookmarks)
    : exchange_(exchange), timer_(std::move(executor)) {
  follower_.wants_bookmarks = wants_bookmarks;
  follower_.metrics = exchange.metrics.Events();
}

void ClientWatch::EndAfter(std::chrono::milliseconds timeout) {
  const SteadyTime now = exchange_.clock.Steady();
  end_ = now + timeout;
  const SteadyTime final_bookmark = end_ - kFinalBookmarkLead;
  Arm(follower_.wants_bookmarks && final_bookmark > now ? final_bookmark : end_);
}

void ClientWatch::Arm(SteadyTime when) {
  timer_.expires_at(when);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self) return;
    if (self->exchange_.clock.Steady() >= self->end_) return self->Stop();
    self->final_bookmark_due_ = true;
    self->Arm(self->end_);
    self->follower_.changed.Set();
  });
}

void ClientWatch::Stop() {
  stopped_ = true;
  if (const auto cancel = std::exchange(cancel_, nullptr)) cancel();
  follower_.changed.Set();
}

void ClientWatch::Close() {
  end_ = SteadyTime::max();
  cancel_ = nullptr;
  timer_.cancel();
}

Task<bool> ClientWatch::WriteHead(int code, mesh::Headers headers) {
  TakeAuditHeaders(headers, exchange_);
  const std::optional<std::chrono::milliseconds> timeout = TakeTimeout(headers);
  // A later phase was refused. The watch ends, and the client learns the reason when it watches again.
  if (exchange_.reply.HeadSent()) co_return code == 200;
  if (timeout) EndAfter(*timeout);
  co_return co_await exchange_.reply.Start(code, std::move(headers), false);
}

Task<bool> ClientWatch::WriteComplete(mesh::Response response) {
  if (exchange_.reply.HeadSent()) co_return response.code == 200;
  TakeAuditHeaders(response.headers, exchange_);
  refused_ = true;
  co_return co_await exchange_.reply.Send(response.code, std::move(response.headers), std::move(response.body));
}

Task<bool> ClientWatch::WriteEvents(std::vector<SharedBytes> pieces, mesh::ResumePosition position) {
  bool written = true;
  if (follower_.metrics) CountEvents(*follower_.metrics, pieces);
  if (!pieces.empty()) written = co_await exchange_.reply.Write(std::move(pieces));
  follower_.position = position.revision;
  caught_up_ = written;
  co_return written;
}

void ClientWatch::OnCancel(std::function<void()> callback) {
  if (stopped_) return callback();
  cancel_ = std::move(callback);
}

void ClientWatch::Abort() {
  if (stopped_) return;  // stopped by this process: a regular end
  aborted_ = true;
  exchange_.reply.Abort();
}

Task<bool> ClientWatch::Follow(SharedWatch& shared) {
  struct Leaver {
    SharedWatch& shared;
    SharedWatch::Follower& follower;
    ~Leaver() { shared.Leave(follower); }
  } const leaver{shared, follower_};
  cancel_ = nullptr;
  for (;;) {
    if (stopped_) co_return false;
    SharedWatch::Pending pending = shared.TakePending(follower_);
    if (follower_.metrics) follower_.metrics->Sent(pending.events);
    if (!pending.frames.empty()) {
      const bool written = co_await exchange_.reply.Write(std::move(pending.frames));
      if (!written) co_return false;
    }
    follower_.position = pending.position;
    if (pending.state == SharedWatch::Pending::State::kFinished) co_return false;
    if (pending.state == SharedWatch::Pending::State::kLost || final_bookmark_due_) co_return true;
    follower_.receiver = this;
    co_await follower_.changed.Wait();
    follower_.receiver = nullptr;
  }
}

}  // namespace apimesh::aggregator
