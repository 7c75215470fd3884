#include "services/aggregator/watches/shared_watch.h"

#include <algorithm>

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include "lib/net/send_group.h"

namespace apimesh::aggregator {
namespace {
/// Frames are retained for clients that are about to join, and for those whose socket is full for a moment.
constexpr std::size_t kRetainedBytes = 1 << 20;
constexpr auto kRetainedTime = std::chrono::seconds(30);
/// A batch of this size is sent immediately, even if more frames are about to arrive.
constexpr std::size_t kMaxBatchBytes = 64 << 10;
}  // namespace

// Why no follower misses an event, receives one twice, or receives events in the wrong order:
//
// Frames. The upstream stream is read on this thread, in order. A frame contains complete revisions; its position R
// says that it and the frames before it contain every event up to R. Parts of an incomplete revision stay in
// `partial_`. Frames are numbered consecutively from `first_`, and every event after `base_` is in `frames_` or will
// arrive. Each follower has the revision up to which it has received everything (`position`) and the number of its next
// frame (`next`).
//
// Joining. Join() refuses a follower whose position is before `base_`, because events between the two may be missing
// here; that follower catches up with its own request. Otherwise it starts at the first frame after its position, so it
// misses nothing. A follower that is ahead (another replica sent it more events) skips frames up to its position, so it
// receives nothing twice.
//
// Delivery. There are two ways. TakePending() returns all frames from `next` on; the follower calls it whenever it is
// not waiting, writes the frames, and then advances its position. Broadcast() writes a batch directly, but only to a
// follower that waits (`receiver` is set) for exactly the first frame of the batch and has received none of it. So a
// batch never overtakes a frame that the follower has not taken or is still writing. If the socket accepts only a part
// of the batch, the follower continues inside Set(), before any other frame can arrive, and TakePending() returns the
// same bytes. A follower that has taken the batch in the meantime has `next` >= `batch.end` and is skipped.
//
// Falling behind. Trim() removes the oldest frames only after they were broadcast. A follower whose next frame was
// removed gets kLost instead of a gap; its position has not changed, and it catches up from there.
//
// Losing the upstream. End() wakes all followers. Each takes the remaining frames and then gets kLost; it catches up
// from its own position, possibly at another replica. An aborted stream discards `partial_`, so no part of a revision
// is delivered. If the upstream has ended regularly, `partial_` is its final message (an ERROR event), which every
// follower receives last.
bool SharedWatch::Join(Follower& follower) {
  if (upstream_ended_ || follower.position < base_) return false;
  const auto behind = std::find_if(frames_.rbegin(), frames_.rend(),
                                   [&](const Frame& frame) { return frame.position.revision <= follower.position; });
  follower.next = first_ + (frames_.rend() - behind);
  follower.slot = followers_.size();
  followers_.push_back(&follower);
  ++follower_count_;
  return true;
}

void SharedWatch::Leave(Follower& follower) {
  if (broadcasting_) {
    followers_[follower.slot] = nullptr;
  } else {
    followers_[follower.slot] = followers_.back();
    followers_[follower.slot]->slot = follower.slot;
    followers_.pop_back();
  }
  if (--follower_count_ == 0) Close();
}

SharedWatch::Pending SharedWatch::TakePending(Follower& follower) {
  Pending pending;
  pending.position = follower.position;
  if (follower.next < first_) {
    pending.state = Pending::State::kLost;
    return pending;
  }
  for (; follower.next < first_ + frames_.size(); ++follower.next) {
    const Frame& frame = frames_[follower.next - first_];
    // A follower can be ahead of this watch if another replica sent it more events.
    if (frame.position.revision <= pending.position) continue;
    pending.position = frame.position.revision;
    if (frame.position.bookmark && !follower.wants_bookmarks) continue;
    if (frame.chunk.empty()) continue;
    pending.frames.push_back(frame.chunk.Body());
    pending.events.Add(frame.events);
  }
  if (upstream_ended_) {
    pending.state = partial_.empty() ? Pending::State::kLost : Pending::State::kFinished;
    pending.frames.insert(pending.frames.end(), partial_.begin(), partial_.end());
  }
  return pending;
}

void SharedWatch::Close() {
  if (const auto ended = std::exchange(on_closed_, nullptr)) ended();
  if (const auto cancel = std::exchange(cancel_, nullptr)) cancel();
}

void SharedWatch::End() {
  upstream_ended_ = true;
  cancel_ = nullptr;
  Close();
  Broadcast(nullptr);
}

Task<bool> SharedWatch::WriteHead(int code, mesh::Headers) { co_return code == 200; }

Task<bool> SharedWatch::Write(std::vector<SharedBytes> pieces) {
  for (SharedBytes& piece : pieces) partial_.push_back(std::move(piece));
  co_return follower_count_ > 0;
}

Task<bool> SharedWatch::WriteEvents(std::vector<SharedBytes> pieces, mesh::ResumePosition position) {
  std::vector<SharedBytes> all = std::exchange(partial_, {});
  all.insert(all.end(), std::make_move_iterator(pieces.begin()), std::make_move_iterator(pieces.end()));
  WatchEventSizes events;
  for (const SharedBytes& piece : all) events.Add(piece.View());
  frames_.push_back({http::Chunk(all), position, clock_.Steady(), std::move(events)});
  bytes_ += frames_.back().chunk.Body().size();
  unsent_bytes_ += frames_.back().chunk.Body().size();
  // The broadcast is posted, so that frames which have already arrived are read first and sent with one write per
  // client. If events arrive faster than they can be sent to all clients, each write contains more of them.
  if (unsent_bytes_ >= kMaxBatchBytes) {
    BroadcastBatch();
  } else if (!std::exchange(broadcast_scheduled_, true)) {
    const auto executor = co_await boost::asio::this_coro::executor;
    boost::asio::post(executor, [self = shared_from_this()] {
      self->broadcast_scheduled_ = false;
      self->BroadcastBatch();
    });
  }
  Trim();
  co_return follower_count_ > 0;
}

void SharedWatch::Trim() {
  const SteadyTime oldest = clock_.Steady() - kRetainedTime;
  while (frames_.size() > 1 && first_ < next_broadcast_ && (bytes_ > kRetainedBytes || frames_.front().time < oldest)) {
    base_ = frames_.front().position.revision;
    bytes_ -= frames_.front().chunk.Body().size();
    frames_.pop_front();
    ++first_;
  }
}

SharedWatch::Batch SharedWatch::NextBatch() {
  std::vector<SharedBytes> all, without_bookmarks;
  WatchEventSizes events, events_without_bookmarks;
  std::uint64_t reached = 0;
  for (std::uint64_t number = next_broadcast_; number < first_ + frames_.size(); ++number) {
    const Frame& frame = frames_[number - first_];
    // A bookmark may repeat the position of the frame before it. TakePending() skips such a frame, so the batch must
    // not contain it either: both have to produce the same bytes.
    if (frame.position.revision <= reached) continue;
    reached = frame.position.revision;
    if (frame.chunk.empty()) continue;
    all.push_back(frame.chunk.Body());
    events.Add(frame.events);
    if (frame.position.bookmark) continue;
    without_bookmarks.push_back(frame.chunk.Body());
    events_without_bookmarks.Add(frame.events);
  }
  const Frame &first = frames_[next_broadcast_ - first_], &last = frames_.back();
  const bool single = &first == &last;  // its chunk already exists
  const bool has_bookmarks = all.size() != without_bookmarks.size();
  const http::Chunk complete = single ? last.chunk : http::Chunk(all);
  unsent_bytes_ = 0;
  const std::uint64_t begin = std::exchange(next_broadcast_, first_ + frames_.size());
  return {begin,
          next_broadcast_,
          first.position.revision,
          last.position.revision,
          complete,
          has_bookmarks ? http::Chunk(without_bookmarks) : complete,
          std::move(events),
          std::move(events_without_bookmarks)};
}

void SharedWatch::BroadcastBatch() {
  if (upstream_ended_ || next_broadcast_ == first_ + frames_.size()) return;
  const Batch batch = NextBatch();
  Broadcast(&batch);
}

bool SharedWatch::TryDeliver(Follower& follower, const Batch& batch, Delivered& delivered) {
  // A follower can be ahead of this watch. If it has received a part of the batch, it takes the rest with
  // TakePending().
  if (follower.position >= batch.first_revision && follower.position < batch.last_revision) return false;
  const http::Chunk& chunk = follower.wants_bookmarks ? batch.all : batch.without_bookmarks;
  if (follower.position < batch.first_revision && !chunk.empty()) {
    if (!follower.receiver->TryWrite(chunk)) return false;
    ++(follower.wants_bookmarks ? delivered.all : delivered.without_bookmarks);
  }
  follower.position = std::max(follower.position, batch.last_revision);
  follower.next = batch.end;
  return true;
}

void SharedWatch::Broadcast(const Batch* batch) {
  // A woken follower continues inside Set(). It may leave, and other followers may leave or join meanwhile. A follower
  // that joins takes all available frames itself.
  const auto self = shared_from_this();
  const net::SendGroup group;
  const bool nested = std::exchange(broadcasting_, true);
  Delivered delivered;
  WatchEventMetrics* metrics = nullptr;
  for (std::size_t i = 0, count = followers_.size(); i < count; ++i) {
    Follower* const follower = followers_[i];
    if (follower == nullptr) continue;
    if (batch != nullptr && follower->next >= batch->end) continue;  // it has already taken the batch
    const bool waits_for_it = batch != nullptr && follower->receiver != nullptr && follower->next == batch->begin;
    metrics = follower->metrics;  // Set() may destroy the follower
    if (!waits_for_it || !TryDeliver(*follower, *batch, delivered)) follower->changed.Set();
  }
  if (metrics && batch) {
    metrics->Sent(batch->events, delivered.all);
    metrics->Sent(batch->events_without_bookmarks, delivered.without_bookmarks);
  }
  if (nested) return;
  broadcasting_ = false;
  if (std::erase(followers_, nullptr) == 0) return;
  for (std::size_t i = 0; i < followers_.size(); ++i) followers_[i]->slot = i;
}

}  // namespace apimesh::aggregator
