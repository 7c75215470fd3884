#include "lib/storage/watch_cache/cache_watcher.h"

#include "lib/storage/errors.h"

namespace apimesh::storage {
namespace {
constexpr std::size_t kBatch = 256;
constexpr auto kBeforeTimeout = std::chrono::seconds(2);
}  // namespace

CacheWatcher::CacheWatcher(SharedPtr shared, std::shared_ptr<WatchCache> cache, std::string prefix, Filter filter,
                           WatchStart start, bool bookmarks, SteadyTime deadline)
    : shared_(std::move(shared)), cache_(std::move(cache)), prefix_(std::move(prefix)), filter_(std::move(filter)),
      start_(std::move(start)), bookmarks_(bookmarks), deadline_(deadline) {
  position_ = filter_.prefix;
  seen_ = start_.after;
  generation_ = cache_->Generation();
  next_bookmark_ = NextBookmark();
  if (start_.initial) {
    next_ = start_.initial->sequence;
    seen_ = start_.initial->revision;
  } else if (!start_.from_history) {
    const auto sequence = cache_->SequenceAfter(start_.after);
    start_.from_history = !sequence;
    next_ = sequence.value_or(0);
  }
}

CacheWatcher::~CacheWatcher() = default;

SteadyTime CacheWatcher::NextBookmark() const {
  if (!bookmarks_) return SteadyTime::max();
  const SteadyTime now = std::chrono::steady_clock::now();
  SteadyTime next = now + shared_->options.bookmark_interval;
  if (deadline_ != SteadyTime::max() && now < deadline_ - kBeforeTimeout) next = std::min(next, deadline_ - kBeforeTimeout);
  return next;
}

Event CacheWatcher::Bookmark(Revision revision) const { return {Event::Type::kBookmark, nullptr, revision}; }

std::vector<Event> CacheWatcher::Fail(meta::ApiError error) {
  over_ = true;
  Event event{Event::Type::kError};
  event.error = std::move(error);
  return {std::move(event)};
}

void CacheWatcher::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (asleep_) asleep_->Wake();
}

Task<std::vector<Event>> CacheWatcher::Next() {
  for (;;) {
    {
      const std::lock_guard lock(mutex_);
      if (stopped_ || over_) co_return std::vector<Event>();
    }
    if (start_.failure) co_return Fail(*start_.failure);
    if (start_.initial) {
      std::vector<Event> events = NextInitial();
      if (!events.empty()) co_return events;
      continue;
    }
    if (start_.from_history) {
      std::vector<Event> events = co_await NextFromHistory();
      if (!events.empty()) co_return events;
      continue;
    }
    WatchCache::Pending pending = cache_->Take(generation_, next_, kBatch, filter_);
    if (pending.behind) {
      if (pending.restored) co_return Fail(WatchExpired());
      over_ = true;
      co_return std::vector<Event>();
    }
    if (!pending.wakeup) {
      next_ = pending.next;
      std::vector<Event> events;
      for (const CacheEventPtr& event : pending.events) {
        if (event->revision <= start_.after) continue;  // the watch was ahead of the cache
        if (auto visible = event->SeenBy(filter_)) events.push_back(std::move(*visible));
      }
      seen_ = std::max(seen_, pending.revision);
      if (!events.empty()) co_return events;
      continue;
    }
    if (std::exchange(start_.tell_place, false)) {
      next_ = cache_->Leave(pending.handle);
      seen_ = std::max(seen_, pending.revision);
      std::vector<Event> place;
      place.push_back(Bookmark(seen_));
      place.back().initial_events_end = true;
      co_return place;
    }
    bool woken = true;
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) pending.wakeup->Wake();
      asleep_ = pending.wakeup;
    }
    woken = co_await Wakeup::Wait(pending.wakeup, next_bookmark_);
    next_ = cache_->Leave(pending.handle);
    {
      const std::lock_guard lock(mutex_);
      asleep_ = nullptr;
      if (stopped_) co_return std::vector<Event>();
    }
    if (!woken && std::chrono::steady_clock::now() >= next_bookmark_) {
      next_bookmark_ = NextBookmark();
      // Everything up to the number we have reached was delivered or did not match, and no more than that is claimed.
      const Revision reached = std::max(seen_, pending.revision);
      std::vector<Event> bookmark;
      const SnapshotPtr now = cache_->Current();
      bookmark.push_back(Bookmark(now->sequence == next_ ? std::max(now->revision, reached) : reached));
      co_return bookmark;
    }
    if (!woken) co_return std::vector<Event>();  // cancelled
  }
}

std::vector<Event> CacheWatcher::NextInitial() {
  std::vector<Event> events;
  bool more = false;
  start_.initial->tree.Walk(position_, [&](const CachedEntryPtr& entry) {
    if (!std::string_view(entry->KeyText()).starts_with(filter_.prefix)) return false;
    if (events.size() >= kBatch) {
      position_ = entry->KeyText();
      more = true;
      return false;
    }
    if (filter_.Matches(*entry)) events.push_back({Event::Type::kAdded, entry, entry->ModRevision()});
    return true;
  });
  if (more) return events;
  if (start_.announce_end) {
    Event end = Bookmark(start_.initial->revision);
    end.initial_events_end = true;
    events.push_back(std::move(end));
  }
  start_.initial = nullptr;
  return events;
}

Task<std::vector<Event>> CacheWatcher::NextFromHistory() {
  if (!history_) {
    etcd::WatchOptions options;
    options.key = prefix_;
    options.range_end = etcd::PrefixEnd(prefix_);
    options.start_revision = static_cast<etcd::Revision>(seen_) + 1;
    options.previous = true;
    options.own_stream = true;
    history_ = shared_->client->OpenWatch(std::move(options));
    history_->RequestProgress();
  }
  // Once all that is left lies in the window, the rest comes from there.
  generation_ = cache_->Generation();
  if (const auto sequence = cache_->SequenceAfter(seen_)) {
    next_ = *sequence;
    start_.after = seen_;  // etcd may have told us more than the cache has heard
    start_.from_history = false;
    history_ = nullptr;
    co_return std::vector<Event>();
  }
  auto batch = co_await history_->Next();
  if (!batch) {
    if (batch.error().code == etcd::Error::Code::kCancelled) over_ = true;
    if (over_) co_return std::vector<Event>();
    co_return Fail(batch.error().code == etcd::Error::Code::kCompacted ? WatchTooOld(seen_, cache_->Floor()) : FromEtcd(batch.error()));
  }
  std::vector<Event> events;
  for (const etcd::WatchEvent& change : batch->events) {
    CacheEvent event{};
    event.revision = static_cast<Revision>(change.kv.mod_revision);
    const std::string key = change.kv.key.substr(prefix_.size());
    for (const etcd::KeyValue* kv : {&change.previous, &change.kv}) {
      if (!cache_->Recipe()->Locked(kv->value)) continue;
      const auto unlocked = co_await EntryRecipe::Unlock(cache_->Recipe(), kv->value);
      if (!unlocked) co_return Fail(unlocked.error());
    }
    if (change.previous.version > 0) {
      auto previous = CachedEntry::FromStored(cache_->Recipe(), key, static_cast<Revision>(change.previous.mod_revision),
                                              change.previous.value);
      if (previous) event.previous = *previous;
    }
    if (change.deleted) {
      // Compacted away meanwhile: what was deleted can't be told any more.
      if (!event.previous) co_return Fail(WatchTooOld(seen_, cache_->Floor()));
      event.type = Event::Type::kDeleted;
      event.object = event.previous->At(event.revision);
    } else {
      auto entry = CachedEntry::FromStored(cache_->Recipe(), key, event.revision, change.kv.value);
      if (!entry) continue;
      event.type = event.previous ? Event::Type::kModified : Event::Type::kAdded;
      event.object = *entry;
    }
    if (auto visible = event.SeenBy(filter_)) events.push_back(std::move(*visible));
  }
  seen_ = std::max(seen_, static_cast<Revision>(batch->revision));
  co_return events;
}

}  // namespace apimesh::storage
