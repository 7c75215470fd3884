#include "lib/storage/watch_cache/cache_feed.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/strand.hpp>

#include "lib/base/log.h"

namespace apimesh::storage {
namespace asio = boost::asio;
namespace {

constexpr std::size_t kPageBytes = 4u << 20;
constexpr std::int64_t kFirstPage = 500;
constexpr auto kListTimeout = std::chrono::seconds(60);

/// A range request that runs while its caller continues.
struct PendingRange {
  std::optional<etcd::Result<etcd::RangeResult>> result;
  std::shared_ptr<Wakeup> done = Wakeup::New();

  static Task<> Run(std::shared_ptr<PendingRange> self, std::shared_ptr<etcd::Client> client, std::string key,
                    etcd::RangeOptions options) {
    self->result = co_await client->Range(std::move(key), std::move(options));
    self->done->Wake();
  }
  static Task<etcd::Result<etcd::RangeResult>> Wait(std::shared_ptr<PendingRange> self) {
    const bool done = co_await Wakeup::Wait(self->done);
    etcd::Result<etcd::RangeResult> result = etcd::Error{etcd::Error::Code::kCancelled, "stopped"};
    if (done && self->result) result = std::move(*self->result);
    co_return result;
  }
};

}  // namespace

struct CacheFeed::State {
  SharedPtr shared;
  std::shared_ptr<WatchCache> cache;
  std::string prefix;
  std::shared_ptr<EtcdObserver> observer;
  asio::strand<asio::any_io_executor> strand;
  asio::cancellation_signal stop;  // used on the strand only
  bool restored = false;           // the next fill follows a restore of etcd
  std::atomic<bool> refill = false;

  State(SharedPtr s, std::shared_ptr<WatchCache> c, std::string p, std::shared_ptr<EtcdObserver> o)
      : shared(std::move(s)),
        cache(std::move(c)),
        prefix(std::move(p)),
        observer(std::move(o)),
        strand(asio::make_strand(shared->executor)) {}

  const std::string Resource() const { return cache->Recipe()->config.resource.ToString(); }

  CachedEntryPtr MakeEntry(const etcd::KeyValue& kv) const {
    const auto revision = static_cast<Revision>(kv.mod_revision);
    std::string key = kv.key.substr(prefix.size());
    auto entry = CachedEntry::FromStored(cache->Recipe(), key, revision, kv.value);
    if (entry) return *entry;
    log::Warning("{} cannot be read and is omitted from lists: {}", kv.key, entry.error().Message());
    return CachedEntry::Unreadable(cache->Recipe(), std::move(key), revision, entry.error());
  }

  /// Fetches the key of an encrypted value and retries until that succeeds: an object must not be omitted because a key
  /// service is temporarily unavailable.
  static Task<> FetchKey(std::shared_ptr<State> state, std::string stored) {
    auto pause = std::chrono::milliseconds(100);
    while (!state->cache->Stopped()) {
      const auto unlocked = co_await EntryRecipe::FetchKey(state->cache->Recipe(), stored);
      if (unlocked) co_return;
      log::Warning("the cache of {} waits for an encryption key: {}", state->Resource(), unlocked.error().Message());
      co_await SleepFor(pause);
      pause = std::min(pause * 2, std::chrono::milliseconds(5000));
    }
  }
  bool NeedsKeyFetch(const etcd::KeyValue& kv) const { return cache->Recipe()->NeedsKeyFetch(kv.value); }
  bool Converts() const { return cache->Recipe()->config.conversion != nullptr; }

  /// Creates the entries of a page by a SuspendingConversion. Objects that have not changed since the last fill are not
  /// converted again.
  static Task<etcd::Result<>> ConvertPage(std::shared_ptr<State> state, std::vector<etcd::KeyValue> page,
                                          std::vector<CachedEntryPtr>& entries);
  static Task<etcd::Result<std::vector<CachedEntryPtr>>> Convert(std::shared_ptr<State> state,
                                                                 std::vector<StoredValue> values);
};

Task<etcd::Result<std::vector<CachedEntryPtr>>> CacheFeed::State::Convert(std::shared_ptr<State> state,
                                                                          std::vector<StoredValue> values) {
  for (const StoredValue& value : values) {
    if (state->cache->Recipe()->NeedsKeyFetch(value.value)) co_await FetchKey(state, value.value);
  }
  auto converted = co_await CachedEntry::Convert(state->cache->Recipe(), std::move(values));
  if (converted) co_return std::move(*converted);
  state->cache->SetFailing();
  co_return etcd::Error{etcd::Error::Code::kUnavailable, converted.error().Message()};
}

Task<etcd::Result<>> CacheFeed::State::ConvertPage(std::shared_ptr<State> state, std::vector<etcd::KeyValue> page,
                                                   std::vector<CachedEntryPtr>& entries) {
  std::vector<StoredValue> values;
  std::vector<std::size_t> positions;
  for (etcd::KeyValue& kv : page) {
    std::string key = kv.key.substr(state->prefix.size());
    const auto revision = static_cast<Revision>(kv.mod_revision);
    CachedEntryPtr known = state->cache->Known(key, revision);
    if (!known) {
      positions.push_back(entries.size());
      values.push_back({std::move(key), revision, std::move(kv.value)});
    }
    entries.push_back(std::move(known));
  }
  auto converted = co_await Convert(state, std::move(values));
  if (!converted) co_return converted.error();
  for (std::size_t i = 0; i < positions.size(); ++i) entries[positions[i]] = std::move((*converted)[i]);
  co_return etcd::Result<>();
}

CacheFeed::CacheFeed(SharedPtr shared, std::shared_ptr<WatchCache> cache, std::string prefix,
                     std::shared_ptr<EtcdObserver> observer)
    : state_(std::make_shared<State>(std::move(shared), std::move(cache), std::move(prefix), std::move(observer))) {
  auto ended = [state = state_](std::exception_ptr) { state->cache->Stop(); };  // ends only by cancellation
  asio::co_spawn(state_->strand, Run(state_), asio::bind_cancellation_slot(state_->stop.slot(), ended));
}

void CacheFeed::Stop() {
  state_->cache->Stop();
  asio::post(state_->strand, [state = state_] { state->stop.emit(asio::cancellation_type::terminal); });
}

Task<> CacheFeed::Mark(std::shared_ptr<State> state) {
  const auto marked = co_await state->shared->client->Put(MarkerKey(state->prefix), "", 0,
                                                          state->shared->options.clock.Steady() + kListTimeout);
  if (!marked) {
    log::Warning("the cache of {} will be filled again after its next event: {}", state->Resource(),
                 marked.error().message);
  }
}

void CacheFeed::Refill() {
  state_->refill = true;
  // The feed waits in its watch, so a write of the marker key wakes it.
  asio::co_spawn(state_->strand, Mark(state_), asio::detached);
}

std::string CacheFeed::MarkerKey(const std::string& prefix) {
  // '.' is the character before '/'.
  return prefix.substr(0, prefix.size() - 1) + ".apimesh-marker";
}

Task<> CacheFeed::Run(std::shared_ptr<State> state) {
  auto pause = std::chrono::milliseconds(50);
  while (!state->cache->Stopped()) {
    const auto listed = co_await List(state);
    if (!listed) {
      log::Warning("the cache of {} could not be filled: {}", state->Resource(), listed.error().message);
      co_await SleepFor(pause);
      pause = std::min(pause * 2, std::chrono::milliseconds(2000));
      continue;
    }
    pause = std::chrono::milliseconds(50);
    const etcd::Error error = co_await Follow(state, *listed);
    if (state->cache->Stopped()) co_return;
    if (error.code == etcd::Error::Code::kFutureRevision) {
      state->restored = true;
      log::Error("{}: {}. All watches of it end with 410.", state->Resource(), error.message);
    } else {
      log::Info("the cache of {} is filled again: {}", state->Resource(), error.message);
    }
  }
}

Task<etcd::Result<Revision>> CacheFeed::List(std::shared_ptr<State> state) {
  state->refill = false;
  std::optional<ListSlots::Slot> slot(co_await state->shared->list_slots.Acquire());
  etcd::RangeOptions options;
  options.range_end = etcd::PrefixEnd(state->prefix);
  options.limit = std::min(kFirstPage, state->shared->options.list_page);
  options.deadline = state->shared->options.clock.Steady() + kListTimeout;
  const EtcdTimer timer(state->observer.get(), EtcdOperation::kList, state->shared->options.clock);
  auto page = co_await state->shared->client->Range(state->prefix, options);
  timer.Done(page.has_value());
  if (!page) co_return page.error();
  const etcd::Revision revision = page->revision;
  std::vector<CachedEntryPtr> entries;
  entries.reserve(page->count);
  for (;;) {
    std::size_t bytes = 1;
    for (const etcd::KeyValue& kv : page->kvs) bytes += kv.value.size();
    std::shared_ptr<PendingRange> next;
    if (page->more && !page->kvs.empty()) {
      // The next page is requested while this one is decoded.
      options.revision = revision;
      options.limit =
          std::clamp<std::int64_t>(kPageBytes * page->kvs.size() / bytes, 1, state->shared->options.list_page);
      options.deadline = state->shared->options.clock.Steady() + kListTimeout;
      next = std::make_shared<PendingRange>();
      std::string from = page->kvs.back().key + '\0';
      asio::co_spawn(state->shared->executor, PendingRange::Run(next, state->shared->client, std::move(from), options),
                     asio::detached);
    }
    if (state->Converts()) {
      // Other caches must not wait for the webhook of this resource.
      slot.reset();
      const auto converted = co_await State::ConvertPage(state, std::move(page->kvs), entries);
      if (!converted) co_return converted.error();
      page->kvs.clear();
    }
    for (etcd::KeyValue& kv : page->kvs) {
      if (state->NeedsKeyFetch(kv)) co_await State::FetchKey(state, kv.value);
      entries.push_back(state->MakeEntry(kv));
      std::string().swap(kv.value);
    }
    if (!next) break;
    page = co_await PendingRange::Wait(next);
    if (!page) co_return page.error();
  }
  state->cache->Fill(std::move(entries), static_cast<Revision>(revision), state->restored);
  state->restored = false;
  co_return static_cast<Revision>(revision);
}

Task<etcd::Error> CacheFeed::Follow(std::shared_ptr<State> state, Revision revision) {
  etcd::WatchOptions options;
  const std::string bare = state->prefix.substr(0, state->prefix.size() - 1);
  options.key = bare + '.';  // starts at the marker key
  options.range_end = etcd::PrefixEnd(state->prefix);
  options.start_revision = static_cast<etcd::Revision>(revision) + 1;
  const std::shared_ptr<etcd::Watch> watch = state->shared->client->OpenWatch(std::move(options));
  state->cache->SetWatch(watch);
  for (;;) {
    auto batch = co_await watch->Next();
    if (!batch) {
      state->cache->SetWatch(nullptr);
      co_return batch.error();
    }
    std::vector<WatchCache::Change> changes;
    changes.reserve(batch->events.size());
    std::vector<StoredValue> to_convert;
    std::vector<std::size_t> positions;  // in `changes`, of the values in `to_convert`
    for (const etcd::WatchEvent& event : batch->events) {
      if (!event.kv.key.starts_with(state->prefix)) continue;
      WatchCache::Change change{event.kv.key.substr(state->prefix.size()), nullptr,
                                static_cast<Revision>(event.kv.mod_revision)};
      if (!event.deleted) {
        change.entry = state->cache->OwnWrite(change.key, change.revision);
        if (!change.entry && state->Converts()) {
          positions.push_back(changes.size());
          to_convert.push_back({change.key, change.revision, event.kv.value});
          changes.push_back(std::move(change));
          continue;
        }
        if (!change.entry && state->NeedsKeyFetch(event.kv)) co_await State::FetchKey(state, event.kv.value);
        if (!change.entry) change.entry = state->MakeEntry(event.kv);
      }
      changes.push_back(std::move(change));
    }
    if (!to_convert.empty()) {
      auto converted = co_await State::Convert(state, std::move(to_convert));
      if (!converted) {
        // The watch is closed, so that its events are not collected while the conversion fails. The next fill converts
        // what has changed.
        state->cache->SetWatch(nullptr);
        co_return converted.error();
      }
      for (std::size_t i = 0; i < positions.size(); ++i) changes[positions[i]].entry = std::move((*converted)[i]);
    }
    state->cache->Apply(std::move(changes), static_cast<Revision>(batch->revision));
    if (state->refill) co_return etcd::Error{etcd::Error::Code::kCancelled, "what could not be read is read again"};
  }
}

}  // namespace apimesh::storage
