#include "services/aggregator/watches/shared_watch.h"

#include <algorithm>

namespace apimesh::aggregator {
namespace {
/// Kept for clients that are about to join, and for those whose socket is full for a moment.
constexpr std::size_t kKeptBytes = 1 << 20;
constexpr auto kKeptTime = std::chrono::seconds(30);
}  // namespace

bool SharedWatch::Join(Follower& follower) {
  if (over_ || follower.place < base_) return false;
  const auto behind = std::find_if(frames_.rbegin(), frames_.rend(),
                                   [&](const Frame& frame) { return frame.place.revision <= follower.place; });
  follower.next = first_ + (frames_.rend() - behind);
  follower.seat = followers_.insert(followers_.end(), &follower);
  return true;
}

void SharedWatch::Leave(Follower& follower) {
  if (next_to_wake_ == follower.seat) ++next_to_wake_;
  followers_.erase(follower.seat);
  if (followers_.empty()) Close();
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
    taken.frames.insert(taken.frames.end(), frame.pieces.begin(), frame.pieces.end());
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
  WakeAll();
}

Task<bool> SharedWatch::WriteHead(int code, rpc::Headers) { co_return code == 200; }

Task<bool> SharedWatch::Write(std::vector<SharedBytes> pieces) {
  for (SharedBytes& piece : pieces) unfinished_.push_back(std::move(piece));
  co_return !followers_.empty();
}

Task<bool> SharedWatch::WriteEvents(std::vector<SharedBytes> pieces, rpc::WatchPlace place) {
  Frame frame{std::exchange(unfinished_, {}), 0, place, std::chrono::steady_clock::now()};
  for (SharedBytes& piece : pieces) frame.pieces.push_back(std::move(piece));
  for (const SharedBytes& piece : frame.pieces) frame.bytes += piece.size();
  bytes_ += frame.bytes;
  frames_.push_back(std::move(frame));
  WakeAll();
  Trim();
  co_return !followers_.empty();
}

void SharedWatch::Trim() {
  const SteadyTime oldest = std::chrono::steady_clock::now() - kKeptTime;
  while (frames_.size() > 1 && (bytes_ > kKeptBytes || frames_.front().time < oldest)) {
    base_ = frames_.front().place.revision;
    bytes_ -= frames_.front().bytes;
    frames_.pop_front();
    ++first_;
  }
}

void SharedWatch::WakeAll() {
  // Those that wake go on inside Set(): they may leave, and others with them.
  const auto self = shared_from_this();
  for (next_to_wake_ = followers_.begin(); next_to_wake_ != followers_.end();) {
    Follower* const follower = *next_to_wake_++;
    follower->changed.Set();
  }
}

}  // namespace apimesh::aggregator
