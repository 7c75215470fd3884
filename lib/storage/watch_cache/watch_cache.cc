#include "lib/storage/watch_cache/watch_cache.h"

#include <algorithm>

namespace apimesh::storage {
namespace {
constexpr std::size_t kOwnWritesBytes = 32 << 20;
}  // namespace

std::optional<Event> CacheEvent::SeenBy(const Filter& filter) const {
  const bool now = type != Event::Type::kDeleted && filter.Matches(*object);
  const bool before = previous && filter.Matches(*previous);
  Event event{now ? (before ? Event::Type::kModified : Event::Type::kAdded) : Event::Type::kDeleted, object, revision};
  if (!now && !before) return std::nullopt;
  // The object no longer matches: the watcher receives the state it knew, at the revision of the change.
  if (!now && type != Event::Type::kDeleted) event.object = previous->At(revision);
  return event;
}

SnapshotPtr WatchCache::Current() const {
  const std::lock_guard lock(snapshot_mutex_);
  return snapshot_;
}

SnapshotPtr WatchCache::At(Revision revision) const {
  SnapshotPtr current;
  std::vector<CacheEventPtr> newer;
  {
    const std::lock_guard lock(mutex_);
    current = Current();
    if (!current || revision < floor_) return nullptr;
    if (revision >= current->revision) return current;
    for (auto event = window_.rbegin(); event != window_.rend() && (*event)->revision > revision; ++event) {
      newer.push_back(*event);
    }
  }
  auto old = std::make_shared<Snapshot>();
  old->tree = current->tree;
  old->revision = revision;
  old->unreadable = current->unreadable;
  old->sequence = current->sequence - newer.size();
  for (const CacheEventPtr& event : newer) {  // undo the changes, newest first
    if (event->type != Event::Type::kDeleted && event->object->Error()) --old->unreadable;
    if (event->previous && event->previous->Error()) ++old->unreadable;
    if (event->previous) {
      old->tree.Put(event->previous);
    } else {
      old->tree.Erase(event->object->KeyText());
    }
  }
  old->tree.Freeze();
  return old;
}

Task<bool> WatchCache::WaitFor(Revision revision, SteadyTime deadline) {
  std::shared_ptr<Wakeup> wakeup;
  {
    const std::lock_guard lock(mutex_);
    const SnapshotPtr current = Current();
    if (current && current->revision >= revision) co_return true;
    if (stopped_ || failing_) co_return false;
    wakeup = Wakeup::New();
    waiters_.emplace(revision, wakeup);
  }
  const bool woken = co_await Wakeup::Wait(wakeup, deadline);
  const std::lock_guard lock(mutex_);
  if (!woken) {
    const auto [begin, end] = waiters_.equal_range(revision);
    for (auto waiter = begin; waiter != end; ++waiter) {
      if (waiter->second == wakeup) {
        waiters_.erase(waiter);
        break;
      }
    }
  }
  const SnapshotPtr current = Current();
  co_return current && current->revision >= revision;
}

void WatchCache::RequestProgress() const {
  std::shared_ptr<etcd::Watch> watch;
  {
    const std::lock_guard lock(mutex_);
    watch = watch_;
  }
  if (watch) watch->RequestProgress();
}

bool WatchCache::Stopped() const {
  const std::lock_guard lock(mutex_);
  return stopped_;
}

CachedEntryPtr WatchCache::Known(const std::string& key, Revision revision) const {
  CachedEntryPtr entry = Newest(key);
  return entry && entry->ModRevision() == revision && !entry->Error() ? entry : nullptr;
}

bool WatchCache::Failing() const {
  const std::lock_guard lock(mutex_);
  return failing_;
}

void WatchCache::RecordOwnWrite(const CachedEntryPtr& written) {
  const std::lock_guard lock(mutex_);
  const SnapshotPtr current = Current();
  if (!current || current->revision >= written->ModRevision()) return;
  // A feed that does not deliver, for example because etcd does not respond, must not make this map grow without bound.
  // A write that is not recorded costs its next writer one conflict and one more attempt.
  CachedEntryPtr& known = own_writes_[written->KeyText()];
  if (known && known->ModRevision() >= written->ModRevision()) return;
  if (known) own_writes_bytes_ -= known->Bytes();
  own_writes_bytes_ += written->Bytes();
  known = written;
  if (own_writes_bytes_ > kOwnWritesBytes) ForgetOwnWrites();
}

void WatchCache::ForgetOwnWrites() {
  own_writes_.clear();
  own_writes_bytes_ = 0;
}

CachedEntryPtr WatchCache::Newest(const std::string& key) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = own_writes_.find(key); found != own_writes_.end()) return found->second;
  }
  const SnapshotPtr current = Current();
  return current ? current->tree.Find(key) : nullptr;
}

CachedEntryPtr WatchCache::OwnWrite(const std::string& key, Revision revision) const {
  const std::lock_guard lock(mutex_);
  const auto found = own_writes_.find(key);
  return found != own_writes_.end() && found->second->ModRevision() == revision ? found->second : nullptr;
}

std::optional<std::uint64_t> WatchCache::SequenceAfter(Revision revision) const {
  const std::lock_guard lock(mutex_);
  if (revision < floor_ || generation_ == 0) return std::nullopt;
  const auto after = std::upper_bound(window_.begin(), window_.end(), revision,
                                      [](Revision r, const CacheEventPtr& event) { return r < event->revision; });
  return first_sequence_ + (after - window_.begin());
}

Revision WatchCache::Floor() const {
  const std::lock_guard lock(mutex_);
  return floor_;
}

WatchCache::Pending WatchCache::Take(std::uint64_t generation, std::uint64_t next, std::size_t max,
                                     const Filter& filter) {
  Pending pending;
  const std::lock_guard lock(mutex_);
  const std::uint64_t end = first_sequence_ + window_.size();
  if (stopped_ || generation != generation_ || next < first_sequence_) {
    pending.behind = true;
    pending.restored = generation < restored_;
    if (!stopped_ && generation == generation_) ++slow_watchers_;
    return pending;
  }
  std::size_t count = std::min<std::size_t>(end - next, max);
  const auto begin = window_.begin() + (next - first_sequence_);
  // Never split a revision: a watch position is always between two revisions.
  while (count > 0 && count < end - next && (*(begin + count))->revision == (*(begin + count - 1))->revision) ++count;
  pending.events.assign(begin, begin + count);
  pending.next = next + count;
  pending.revision = pending.next == end ? Current()->revision : pending.events.back()->revision;
  if (count == 0) {
    pending.wakeup = Wakeup::New();
    pending.handle = idle_watchers_.insert(idle_watchers_.end(), {&filter, next, pending.wakeup});
  }
  return pending;
}

std::uint64_t WatchCache::EndWait(IdleWatcherHandle handle) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t next = handle->next;
  idle_watchers_.erase(handle);
  return next;
}

std::uint64_t WatchCache::Generation() const {
  const std::lock_guard lock(mutex_);
  return generation_;
}

ResourceStats WatchCache::Stats() const {
  ResourceStats stats;
  const std::lock_guard lock(mutex_);
  if (const SnapshotPtr current = Current()) {
    stats.filled = true;
    stats.objects = current->tree.size();
    stats.bytes = current->bytes;
    stats.revision = current->revision;
  }
  stats.events = first_sequence_ + window_.size();
  stats.fills = generation_;
  stats.slow_watchers = slow_watchers_;
  return stats;
}

void WatchCache::Fill(std::vector<CachedEntryPtr> sorted, Revision revision, bool restored) {
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->unreadable = std::count_if(sorted.begin(), sorted.end(), [](const auto& entry) { return entry->Error(); });
  for (const CachedEntryPtr& entry : sorted) snapshot->bytes += entry->JsonBytes();
  snapshot->tree = Tree::FromSorted(std::move(sorted));
  snapshot->revision = revision;
  std::unique_lock lock(mutex_);
  ++generation_;
  if (restored) restored_ = generation_;
  first_sequence_ += window_.size();
  window_.clear();
  window_bytes_ = 0;
  floor_ = revision;
  failing_ = false;
  ForgetOwnWrites();
  snapshot->sequence = first_sequence_;
  for (IdleWatcher& watcher : idle_watchers_) {
    if (watcher.wakeup) std::exchange(watcher.wakeup, nullptr)->Wake();
  }
  Publish(std::move(snapshot), lock);
}

void WatchCache::Apply(std::vector<Change> changes, Revision revision) {
  const SnapshotPtr current = Current();
  auto snapshot = std::make_shared<Snapshot>();
  snapshot->tree = current->tree;
  snapshot->revision = revision;
  snapshot->unreadable = current->unreadable;
  snapshot->bytes = current->bytes;
  std::vector<CacheEventPtr> events;
  const SteadyTime now = options_.clock.Steady();
  for (Change& change : changes) {
    auto event = std::make_shared<CacheEvent>();
    event->previous = snapshot->tree.Find(change.key);
    if (event->previous && event->previous->Error()) --snapshot->unreadable;
    if (change.entry && change.entry->Error()) ++snapshot->unreadable;
    if (event->previous) snapshot->bytes -= event->previous->JsonBytes();
    if (change.entry) snapshot->bytes += change.entry->JsonBytes();
    event->revision = change.revision;
    event->time = now;
    if (change.entry) {
      event->type = event->previous ? Event::Type::kModified : Event::Type::kAdded;
      event->object = change.entry;
      snapshot->tree.Put(std::move(change.entry));
    } else {
      if (!event->previous) continue;
      event->type = Event::Type::kDeleted;
      event->object = event->previous->At(change.revision);
      snapshot->tree.Erase(change.key);
    }
    event->bytes = sizeof(CacheEvent) + event->object->Bytes();
    events.push_back(std::move(event));
  }
  snapshot->tree.Freeze();
  UpdateIndexes(*current, *snapshot, events);

  std::unique_lock lock(mutex_);
  for (const CacheEventPtr& event : events) {
    window_bytes_ += event->bytes;
    window_.push_back(event);
  }
  snapshot->sequence = first_sequence_ + window_.size();
  for (IdleWatcher& watcher : idle_watchers_) {
    if (!watcher.wakeup) continue;
    const auto concerned = std::find_if(events.begin(), events.end(), [&](const CacheEventPtr& event) {
      return (event->type != Event::Type::kDeleted && watcher.filter->Matches(*event->object)) ||
             (event->previous && watcher.filter->Matches(*event->previous));
    });
    if (concerned == events.end()) {
      watcher.next = snapshot->sequence;
    } else {
      watcher.next += concerned - events.begin();
      std::exchange(watcher.wakeup, nullptr)->Wake();
    }
  }
  if (!own_writes_.empty()) {
    std::erase_if(own_writes_, [&](const auto& write) {
      const bool delivered = write.second->ModRevision() <= revision;
      if (delivered) own_writes_bytes_ -= write.second->Bytes();
      return delivered;
    });
  }
  TrimWindow();
  Publish(std::move(snapshot), lock);
}

/// `lock` holds mutex_. It is released before the waiters are woken.
void WatchCache::Publish(SnapshotPtr snapshot, std::unique_lock<std::mutex>& lock) {
  const Revision revision = snapshot->revision;
  {
    const std::lock_guard inner(snapshot_mutex_);
    snapshot_.swap(snapshot);
  }
  std::vector<std::shared_ptr<Wakeup>> ready;
  const auto end = waiters_.upper_bound(revision);
  for (auto waiter = waiters_.begin(); waiter != end; ++waiter) ready.push_back(waiter->second);
  waiters_.erase(waiters_.begin(), end);
  lock.unlock();
  for (const auto& wakeup : ready) wakeup->Wake();
}

void WatchCache::TrimWindow() {
  const SteadyTime oldest = options_.clock.Steady() - options_.window;
  while (!window_.empty() && (window_bytes_ > options_.window_bytes || window_.front()->time < oldest)) {
    floor_ = window_.front()->revision;
    window_bytes_ -= window_.front()->bytes;
    window_.pop_front();
    ++first_sequence_;
  }
}

void WatchCache::SetWatch(std::shared_ptr<etcd::Watch> watch) {
  const std::lock_guard lock(mutex_);
  watch_.swap(watch);
}

void WatchCache::SetFailing() {
  std::multimap<Revision, std::shared_ptr<Wakeup>> waiters;
  {
    const std::lock_guard lock(mutex_);
    if (failing_) return;
    failing_ = true;
    ++generation_;
    waiters.swap(waiters_);
    for (IdleWatcher& watcher : idle_watchers_) {
      if (watcher.wakeup) std::exchange(watcher.wakeup, nullptr)->Wake();
    }
  }
  for (const auto& [_, wakeup] : waiters) wakeup->Wake();
}

void WatchCache::Stop() {
  std::multimap<Revision, std::shared_ptr<Wakeup>> waiters;
  std::shared_ptr<etcd::Watch> watch;
  {
    const std::lock_guard lock(mutex_);
    if (stopped_) return;
    stopped_ = true;
    waiters.swap(waiters_);
    watch.swap(watch_);
    for (IdleWatcher& watcher : idle_watchers_) {
      if (watcher.wakeup) std::exchange(watcher.wakeup, nullptr)->Wake();
    }
  }
  for (const auto& [_, wakeup] : waiters) wakeup->Wake();
}

}  // namespace apimesh::storage
