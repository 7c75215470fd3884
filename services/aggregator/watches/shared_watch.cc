#include "services/aggregator/watches/shared_watch.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>

#include "lib/http/send_group.h"

namespace apimesh::aggregator {
namespace {
/// Kept for clients that are about to join, and for those whose socket is full for a moment.
constexpr std::size_t kKeptBytes = 1 << 20;
constexpr auto kKeptTime = std::chrono::seconds(30);
/// So much goes out at once, even if more is about to come.
constexpr std::size_t kToldAtOnce = 64 << 10;
}  // namespace

bool SharedWatch::Join(Follower& follower) {
  if (over_ || follower.place < base_) return false;
  const auto behind = std::find_if(frames_.rbegin(), frames_.rend(),
                                   [&](const Frame& frame) { return frame.place.revision <= follower.place; });
  follower.next = first_ + (frames_.rend() - behind);
  follower.seat = seats_.size();
  seats_.push_back(&follower);
  ++followers_;
  return true;
}

void SharedWatch::Leave(Follower& follower) {
  if (telling_) {
    seats_[follower.seat] = nullptr;
  } else {
    seats_[follower.seat] = seats_.back();
    seats_[follower.seat]->seat = follower.seat;
    seats_.pop_back();
  }
  if (--followers_ == 0) Close();
}

SharedWatch::Taken SharedWatch::Take(Follower& follower) {
  Taken taken;
  taken.place = follower.place;
  if (follower.next < first_) {
    taken.state = Taken::State::kLost;
    return taken;
  }
  for (; follower.next < first_ + frames_.size(); ++follower.next) {
    const Frame& frame = frames_[follower.next - first_];
    // A follower can be ahead of us: another replica told it more.
    if (frame.place.revision <= taken.place) continue;
    taken.place = frame.place.revision;
    if (frame.place.bookmark && !follower.wants_bookmarks) continue;
    if (!frame.chunk.empty()) taken.frames.push_back(frame.chunk.Body());
  }
  if (over_) {
    taken.state = unfinished_.empty() ? Taken::State::kLost : Taken::State::kFinished;
    taken.frames.insert(taken.frames.end(), unfinished_.begin(), unfinished_.end());
  }
  return taken;
}

void SharedWatch::Close() {
  if (const auto ended = std::exchange(ended_, nullptr)) ended();
  if (const auto cancel = std::exchange(cancel_, nullptr)) cancel();
}

void SharedWatch::End() {
  over_ = true;
  cancel_ = nullptr;
  Close();
  TellAll(nullptr);
}

Task<bool> SharedWatch::WriteHead(int code, rpc::Headers) { co_return code == 200; }

Task<bool> SharedWatch::Write(std::vector<SharedBytes> pieces) {
  for (SharedBytes& piece : pieces) unfinished_.push_back(std::move(piece));
  co_return followers_ > 0;
}

Task<bool> SharedWatch::WriteEvents(std::vector<SharedBytes> pieces, rpc::WatchPlace place) {
  std::vector<SharedBytes> all = std::exchange(unfinished_, {});
  all.insert(all.end(), std::make_move_iterator(pieces.begin()), std::make_move_iterator(pieces.end()));
  frames_.push_back({http::Chunk(all), place, std::chrono::steady_clock::now()});
  bytes_ += frames_.back().chunk.Body().size();
  untold_bytes_ += frames_.back().chunk.Body().size();
  // What has come already, but has not been read yet, is told together: a client gets it by one write. Where events come faster than
  // they can be sent to all, each write has more of them.
  if (untold_bytes_ >= kToldAtOnce) {
    TellNews();
  } else if (!std::exchange(tells_soon_, true)) {
    const auto executor = co_await boost::asio::this_coro::executor;
    boost::asio::post(executor, [self = shared_from_this()] {
      self->tells_soon_ = false;
      self->TellNews();
    });
  }
  Trim();
  co_return followers_ > 0;
}

void SharedWatch::Trim() {
  const SteadyTime oldest = std::chrono::steady_clock::now() - kKeptTime;
  while (frames_.size() > 1 && first_ < told_ && (bytes_ > kKeptBytes || frames_.front().time < oldest)) {
    base_ = frames_.front().place.revision;
    bytes_ -= frames_.front().chunk.Body().size();
    frames_.pop_front();
    ++first_;
  }
}

SharedWatch::News SharedWatch::TakeNews() {
  std::vector<SharedBytes> all, without_bookmarks;
  for (std::uint64_t number = told_; number < first_ + frames_.size(); ++number) {
    const Frame& frame = frames_[number - first_];
    if (frame.chunk.empty()) continue;
    all.push_back(frame.chunk.Body());
    if (!frame.place.bookmark) without_bookmarks.push_back(frame.chunk.Body());
  }
  const Frame &first = frames_[told_ - first_], &last = frames_.back();
  const bool alone = &first == &last;  // its chunk is ready
  const bool the_same = all.size() == without_bookmarks.size();
  const http::Chunk whole = alone ? last.chunk : http::Chunk(all);
  untold_bytes_ = 0;
  const std::uint64_t begin = std::exchange(told_, first_ + frames_.size());
  return {begin, told_, first.place.revision, last.place.revision, whole, the_same ? whole : http::Chunk(without_bookmarks)};
}

void SharedWatch::TellNews() {
  if (over_ || told_ == first_ + frames_.size()) return;
  const News news = TakeNews();
  TellAll(&news);
}

bool SharedWatch::Hand(Follower& follower, const News& news) {
  // A follower can be ahead of us. If it is ahead of some of this, it takes the rest by itself.
  if (follower.place >= news.first_revision && follower.place < news.last_revision) return false;
  const http::Chunk& chunk = follower.wants_bookmarks ? news.all : news.without_bookmarks;
  if (follower.place < news.first_revision && !chunk.empty() && !follower.receiver->TryWrite(chunk)) return false;
  follower.place = std::max(follower.place, news.last_revision);
  follower.next = news.end;
  return true;
}

void SharedWatch::TellAll(const News* news) {
  // Those that wake go on inside Set(): they may leave, and others with them. Those that join meanwhile take what there is by themselves.
  const auto self = shared_from_this();
  const http::SendGroup group;
  const bool inside_another = std::exchange(telling_, true);
  for (std::size_t i = 0, count = seats_.size(); i < count; ++i) {
    Follower* const follower = seats_[i];
    if (follower == nullptr) continue;
    if (news != nullptr && follower->next >= news->end) continue;  // has taken it by itself
    const bool waits_for_it = news != nullptr && follower->receiver != nullptr && follower->next == news->begin;
    if (!waits_for_it || !Hand(*follower, *news)) follower->changed.Set();
  }
  if (inside_another) return;
  telling_ = false;
  if (std::erase(seats_, nullptr) == 0) return;
  for (std::size_t i = 0; i < seats_.size(); ++i) seats_[i]->seat = i;
}

}  // namespace apimesh::aggregator
