#include "services/aggregator/watches/client_watch.h"

#include <charconv>

namespace apimesh::aggregator {
namespace {

/// A client that comes back starts from its last bookmark, so it gets one right before it is sent away.
constexpr auto kFarewellBefore = std::chrono::seconds(2);

std::optional<std::chrono::milliseconds> TakeTimeout(rpc::Headers& headers) {
  const auto told = std::find_if(headers.begin(), headers.end(),
                                 [](const auto& header) { return header.first == rpc::kWatchTimeoutHeader; });
  if (told == headers.end()) return std::nullopt;
  std::int64_t count = 0;
  std::from_chars(told->second.data(), told->second.data() + told->second.size(), count);
  headers.erase(told);
  return std::chrono::milliseconds(count);
}

}  // namespace

ClientWatch::ClientWatch(Exchange& exchange, boost::asio::any_io_executor executor, bool wants_bookmarks)
    : exchange_(exchange), timer_(std::move(executor)) {
  follower_.wants_bookmarks = wants_bookmarks;
}

void ClientWatch::EndAfter(std::chrono::milliseconds timeout) {
  const SteadyTime now = std::chrono::steady_clock::now();
  end_ = now + timeout;
  const SteadyTime farewell = end_ - kFarewellBefore;
  Arm(follower_.wants_bookmarks && farewell > now ? farewell : end_);
}

void ClientWatch::Arm(SteadyTime when) {
  timer_.expires_at(when);
  timer_.async_wait([weak = weak_from_this()](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self) return;
    if (std::chrono::steady_clock::now() >= self->end_) return self->Stop();
    self->farewell_due_ = true;
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

Task<bool> ClientWatch::WriteHead(int code, rpc::Headers headers) {
  const std::optional<std::chrono::milliseconds> timeout = TakeTimeout(headers);
  // Refused in a later phase: the client asks again and is told why.
  if (exchange_.reply.HeadSent()) co_return code == 200;
  if (timeout) EndAfter(*timeout);
  co_return co_await exchange_.reply.Start(code, std::move(headers), false);
}

Task<bool> ClientWatch::WriteEvents(std::vector<SharedBytes> pieces, rpc::WatchPlace place) {
  bool written = true;
  if (!pieces.empty()) written = co_await exchange_.reply.Write(std::move(pieces));
  follower_.place = place.revision;
  caught_up_ = written;
  co_return written;
}

void ClientWatch::OnCancel(std::function<void()> callback) {
  if (stopped_) return callback();
  cancel_ = std::move(callback);
}

void ClientWatch::Abort() {
  if (stopped_) return;  // by ourselves: a clean end
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
    SharedWatch::Taken taken = shared.Take(follower_);
    if (!taken.frames.empty()) {
      const bool written = co_await exchange_.reply.Write(std::move(taken.frames));
      if (!written) co_return false;
    }
    follower_.place = taken.place;
    if (taken.state == SharedWatch::Taken::State::kFinished) co_return false;
    if (taken.state == SharedWatch::Taken::State::kLost || farewell_due_) co_return true;
    follower_.receiver = this;
    co_await follower_.changed.Wait();
    follower_.receiver = nullptr;
  }
}

}  // namespace apimesh::aggregator
