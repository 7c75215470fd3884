#include "lib/storage/watch_cache/cache_watcher.h"

#include "lib/storage/etcd_store/errors.h"

namespace apimesh::storage {
namespace {
constexpr std::size_t kBatch = 256;
constexpr auto kBeforeTimeout = std::chrono::seconds(2);
}  // namespace

CacheWatcher::CacheWatcher(SharedPtr shared, std::shared_ptr<WatchCache> cache, std::string prefix, Filter filter,
                           WatchStart start, bool bookmarks, SteadyTime deadline)
    : shared_(std::move(shared)),
      cache_(std::move(cache)),
      prefix_(std::move(prefix)),
      filter_(std::move(filter)),
      start_(std::move(start)),
      bookmarks_(bookmarks),
      deadline_(deadline) {
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
  const SteadyTime now = shared_->options.clock.Steady();
  SteadyTime next = now + shared_->options.bookmark_interval;
  if (deadline_ != SteadyTime::max() && now < deadline_ - kBeforeTimeout)
    next = std::min(next, deadline_ - kBeforeTimeout);
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
        // Already delivered from etcd's history, which was ahead of the cache.
        if (event->revision <= start_.after) continue;
        if (auto visible = event->SeenBy(filter_)) events.push_back(std::move(*visible));
      }
      seen_ = std::max(seen_, pending.revision);
      if (!events.empty()) co_return events;
      continue;
    }
    if (std::exchange(start_.bookmark_when_caught_up, false)) {
      next_ = cache_->EndWait(pending.handle);
      seen_ = std::max(seen_, pending.revision);
      std::vector<Event> bookmark;
      bookmark.push_back(Bookmark(seen_));
      bookmark.back().initial_events_end = true;
      co_return bookmark;
    }
    bool woken = true;
    {
      const std::lock_guard lock(mutex_);
      if (stopped_) pending.wakeup->Wake();
      asleep_ = pending.wakeup;
    }
    woken = co_await Wakeup::Wait(pending.wakeup, next_bookmark_);
    next_ = cache_->EndWait(pending.handle);
    {
      const std::lock_guard lock(mutex_);
      asleep_ = nullptr;
      if (stopped_) co_return std::vector<Event>();
    }
    if (!woken && shared_->options.clock.Steady() >= next_bookmark_) {
      next_bookmark_ = NextBookmark();
      // Everything up to `reached` was delivered or did not match. The bookmark must not claim more than that.
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
  if (start_.bookmark_after_initial) {
    Event end = Bookmark(start_.initial->revision);
    end.initial_events_end = true;
    events.push_back(std::move(end));
  }
  start_.initial = nullptr;
  return events;
}

void CacheWatcher::DecodeChange(const etcd::WatchEvent& change, const std::string& key, CachedEntryPtr& previous,
                                CachedEntryPtr& entry) const {
  const auto decode = [&](const etcd::KeyValue& kv) {
    auto made = CachedEntry::FromStored(cache_->Recipe(), key, static_cast<Revision>(kv.mod_revision), kv.value);
    return made ? *made : nullptr;
  };
  if (change.previous.version > 0) previous = decode(change.previous);
  if (!change.deleted) entry = decode(change.kv);
}

Task<meta::Result<>> CacheWatcher::ConvertChange(const etcd::WatchEvent& change, const std::string& key,
                                                 CachedEntryPtr& previous, CachedEntryPtr& entry) const {
  std::vector<StoredValue> values;
  const bool has_previous = change.previous.version > 0;
  if (has_previous) values.push_back({key, static_cast<Revision>(change.previous.mod_revision), change.previous.value});
  if (!change.deleted) values.push_back({key, static_cast<Revision>(change.kv.mod_revision), change.kv.value});
  ASSIGN_OR_CO_RETURN(std::vector<CachedEntryPtr> made,
                      co_await CachedEntry::Convert(cache_->Recipe(), std::move(values)));
  if (!change.deleted && !made.back()->Error()) entry = made.back();
  if (has_previous && !made.front()->Error()) previous = made.front();
  co_return meta::Result<>();
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
  // Continues from the window as soon as it covers all remaining events.
  generation_ = cache_->Generation();
  if (const auto sequence = cache_->SequenceAfter(seen_)) {
    next_ = *sequence;
    start_.after = seen_;  // etcd's history may have delivered more than the cache has seen
    start_.from_history = false;
    history_ = nullptr;
    co_return std::vector<Event>();
  }
  auto batch = co_await history_->Next();
  if (!batch) {
    if (batch.error().code == etcd::Error::Code::kCancelled) over_ = true;
    if (over_) co_return std::vector<Event>();
    co_return Fail(batch.error().code == etcd::Error::Code::kCompacted ? WatchTooOld(seen_, cache_->Floor())
                                                                       : FromEtcd(batch.error()));
  }
  std::vector<Event> events;
  for (const etcd::WatchEvent& change : batch->events) {
    CacheEvent event{};
    event.revision = static_cast<Revision>(change.kv.mod_revision);
    const std::string key = change.kv.key.substr(prefix_.size());
    for (const etcd::KeyValue* kv : {&change.previous, &change.kv}) {
      if (!cache_->Recipe()->NeedsKeyFetch(kv->value)) continue;
      const auto unlocked = co_await EntryRecipe::FetchKey(cache_->Recipe(), kv->value);
      if (!unlocked) co_return Fail(unlocked.error());
    }
    CachedEntryPtr entry;
    if (cache_->Recipe()->config.conversion) {
      const meta::Result<> converted = co_await ConvertChange(change, key, event.previous, entry);
      if (!converted) co_return Fail(converted.error());
    } else {
      DecodeChange(change, key, event.previous, entry);
    }
    if (change.deleted) {
      // The previous value was compacted, so the deleted object cannot be reported.
      if (!event.previous) co_return Fail(WatchTooOld(seen_, cache_->Floor()));
      event.type = Event::Type::kDeleted;
      event.object = event.previous->At(event.revision);
    } else {
      if (!entry) continue;
      event.type = event.previous ? Event::Type::kModified : Event::Type::kAdded;
      event.object = entry;
    }
    if (auto visible = event.SeenBy(filter_)) events.push_back(std::move(*visible));
  }
  seen_ = std::max(seen_, static_cast<Revision>(batch->revision));
  co_return events;
}

}  // namespace apimesh::storage
