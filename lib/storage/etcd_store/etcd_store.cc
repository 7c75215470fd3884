#include "lib/storage/etcd_store/etcd_store.h"

#include "lib/storage/etcd_store/errors.h"
#include "lib/storage/watch_cache/cache_watcher.h"
#include "lib/tracing/step.h"

namespace apimesh::storage {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kFirstWait(20);
constexpr milliseconds kLongestWait(200);
/// If a requested progress notification does not arrive within this time, the reader writes the marker key instead.
constexpr milliseconds kProgressTimeout(250);

/// Normalises the slashes of --etcd-prefix as kube-apiserver does, so that both find the same keys with the same flag.
std::string PrefixFor(const BackendOptions& options, const ResourceConfig& config) {
  std::string prefix;
  for (const char c : "/" + options.prefix + "/" + config.key_prefix + "/") {
    if (c != '/' || !prefix.ends_with('/')) prefix += c;
  }
  return prefix;
}

}  // namespace

void ProgressRequests::Ask(const WatchCache& cache, Revision target, SteadyTime now) {
  {
    const std::lock_guard lock(mutex_);
    if (target <= asked_ && now - last_ < kFirstWait) return;
    asked_ = std::max(asked_, target);
    last_ = now;
  }
  cache.RequestProgress();
}

EtcdStore::EtcdStore(SharedPtr shared, ResourceConfig config)
    : shared_(std::move(shared)),
      prefix_(PrefixFor(shared_->options, config)),
      cache_(std::make_shared<WatchCache>(
          std::make_shared<const EntryRecipe>(std::move(config), prefix_, shared_->options.encryption),
          shared_->options)),
      observer_(shared_->options.observer ? shared_->options.observer(cache_->Recipe()->config.StoredAs()) : nullptr),
      feed_(shared_, cache_, prefix_, observer_) {}

ResourceStats EtcdStore::Stats() const {
  ResourceStats stats = cache_->Stats();
  stats.resource = Config().StoredAs();
  stats.lists = lists_;
  stats.indexed_lists = indexed_lists_;
  stats.consistent_reads = consistent_reads_;
  stats.failed_consistent_reads = failed_consistent_reads_;
  return stats;
}

std::string_view EtcdStore::NameOf(const Key& key) const {
  const std::string_view text = key.text;
  return Config().namespaced ? text.substr(text.find('/') + 1) : text;
}

meta::Result<> EtcdStore::Ready() const {
  if (!cache_->Current() || cache_->Stopped()) return NotReady();
  return {};
}

Task<meta::Result<SnapshotPtr>> EtcdStore::CatchUp(Revision target, SteadyTime deadline) {
  auto wait = kFirstWait;
  SteadyTime mark_at = shared_->options.clock.Steady();
  if (shared_->client->ProgressIsSafe()) mark_at += kProgressTimeout;
  for (;;) {
    SnapshotPtr current = cache_->Current();
    if (current && current->revision >= target) co_return current;
    if (cache_->Stopped()) co_return NotReady();
    if (cache_->Failing()) co_return SnapshotPtr();
    const SteadyTime now = shared_->options.clock.Steady();
    if (now >= deadline) co_return current ? CacheBehind() : NotReady();
    if (shared_->client->ProgressIsSafe()) shared_->progress.Ask(*cache_, target, now);
    if (current && now >= mark_at) {
      // Progress notifications of this etcd may overtake events, or none arrived in time. Events of one watch arrive in
      // order, so the arrival of our own write of the marker key shows how far the feed's watch has come.
      mark_at = now + std::chrono::seconds(1);
      auto marked = co_await shared_->client->Put(CacheFeed::MarkerKey(prefix_), "", 0, deadline);
      if (marked) target = std::min(target, static_cast<Revision>(*marked));
    }
    co_await cache_->WaitFor(target, std::min(deadline, now + wait));
    wait = std::min(wait * 2, kLongestWait);
  }
}

Task<meta::Result<SnapshotPtr>> EtcdStore::SnapshotNotOlderThan(meta::RequestContext ctx,
                                                                std::string resource_version) {
  const SteadyTime deadline = std::min(ctx.Deadline(), shared_->options.clock.Steady() + shared_->options.read_timeout);
  ASSIGN_OR_CO_RETURN(const Revision asked, ParseResourceVersion(resource_version));
  if (SnapshotPtr current = cache_->Current(); current && asked > 0 && current->revision >= asked) co_return current;
  if (resource_version == "0") {
    if (SnapshotPtr current = cache_->Current()) co_return current;
    co_await cache_->WaitFor(0, deadline);
    SnapshotPtr current = cache_->Current();
    if (!current && !cache_->Failing()) co_return NotReady();
    co_return current;
  }
  const auto newest = co_await shared_->read_index->Newest(deadline);
  if (!newest) {
    if (asked == 0) ++failed_consistent_reads_;
    co_return FromEtcd(newest.error());
  }
  const auto revision = static_cast<Revision>(*newest);
  if (asked > revision) co_return meta::TooLargeResourceVersion(asked, revision);
  auto snapshot = co_await CatchUp(asked > 0 ? asked : revision, deadline);
  if (asked == 0) ++(snapshot ? consistent_reads_ : failed_consistent_reads_);
  co_return snapshot;
}

Task<meta::Result<EntryPtr>> EtcdStore::Get(meta::RequestContext ctx, Key key, GetOptions options) {
  const tracing::Step step(SpanOfGet(ctx, key, options));
  if (step) ctx = ctx.Within(step.GetSpan());
  ASSIGN_OR_CO_RETURN(const SnapshotPtr snapshot, co_await SnapshotNotOlderThan(ctx, options.resource_version));
  if (!snapshot) co_return co_await GetFromEtcd(ctx, key);
  step.Event("About to fetch object from cache");
  const CachedEntryPtr entry =
      options.resource_version == "0" ? cache_->Newest(key.text) : snapshot->tree.Find(key.text);
  if (!entry) co_return meta::NotFound(Config().resource, NameOf(key));
  if (entry->Error()) co_return *entry->Error();
  co_return EntryPtr(entry);
}

Task<meta::Result<EntryPtr>> EtcdStore::GetFromEtcd(meta::RequestContext ctx, Key key) {
  ASSIGN_OR_CO_RETURN(const CachedEntryPtr entry, co_await ReadFromEtcd(ctx, key, ctx.Deadline()));
  if (!entry) co_return meta::NotFound(Config().resource, NameOf(key));
  if (entry->Error()) co_return *entry->Error();
  co_return EntryPtr(entry);
}

void EtcdStore::RereadUnreadable() {
  if (const SnapshotPtr current = cache_->Current(); current && current->unreadable > 0) feed_.Refill();
}

Task<meta::Result<std::int64_t>> EtcdStore::Count(meta::RequestContext ctx) {
  ASSIGN_OR_CO_RETURN(const SnapshotPtr snapshot, co_await SnapshotNotOlderThan(ctx, "0"));
  if (!snapshot) co_return NotReady();
  co_return static_cast<std::int64_t>(snapshot->tree.size());
}

Filter EtcdStore::FilterOf(const std::string& ns, const meta::LabelSelector& labels,
                           const meta::FieldSelector& fields) const {
  Filter filter{ns.empty() || !Config().namespaced ? "" : ns + "/", labels, fields};
  const std::string* name = fields.RequiresExactMatch("metadata.name");
  if (!name) return filter;
  if (!Config().namespaced) {
    filter.one = *name;
  } else if (!ns.empty()) {
    filter.one = filter.prefix + *name;
  } else if (const std::string* wanted = fields.RequiresExactMatch("metadata.namespace")) {
    filter.one = *wanted + "/" + *name;
  }
  return filter;
}

Task<meta::Result<std::unique_ptr<Watcher>>> EtcdStore::Watch(meta::RequestContext ctx, WatchOptions options) {
  const tracing::Step step(SpanOfMany(ctx, "cacher.Watch"));
  ASSIGN_OR_CO_RETURN(const Revision asked, ParseResourceVersion(options.resource_version));
  if (cache_->Failing()) co_return NotReady();
  WatchStart start;
  // Without a resourceVersion the current state is sent first, unless the client declines it.
  const bool initial = options.send_initial_events.value_or(asked == 0);
  if (initial || asked == 0) {
    const meta::Result<SnapshotPtr> snapshot = co_await SnapshotNotOlderThan(ctx, options.resource_version);
    if (!snapshot && !IsTooLarge(snapshot.error())) co_return snapshot.error();
    if (snapshot && !*snapshot) co_return NotReady();
    if (!snapshot) {
      start.failure = snapshot.error();  // reported inside the watch, as kube-apiserver does
    } else if (initial) {
      start.initial = *snapshot;
      start.bookmark_after_initial =
          options.mark_initial_events_end || (options.send_initial_events.value_or(false) && options.allow_bookmarks);
    }
    start.bookmark_when_caught_up = !initial && options.mark_initial_events_end;
    start.after = snapshot ? (*snapshot)->revision : asked;
  } else {
    ASSIGN_OR_CO_RETURN(const SnapshotPtr any, co_await SnapshotNotOlderThan(ctx, "0"));  // waits for the first fill
    if (!any) co_return NotReady();
    start.after = asked;
    start.bookmark_when_caught_up = options.mark_initial_events_end;
    if (asked > any->revision) {
      const auto newest = co_await shared_->read_index->Newest(ctx.Deadline());
      if (!newest) co_return FromEtcd(newest.error());
      // The revision was undone by a restore.
      if (asked > static_cast<Revision>(*newest)) start.failure = WatchExpired();
    }
  }
  co_return std::unique_ptr<Watcher>(
      std::make_unique<CacheWatcher>(shared_, cache_, prefix_, FilterOf(options.ns, options.labels, options.fields),
                                     std::move(start), options.allow_bookmarks, ctx.Deadline()));
}

}  // namespace apimesh::storage
