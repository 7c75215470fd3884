#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "lib/storage/shared.h"
#include "lib/storage/snapshot_cursor.h"
#include "lib/storage/watch_cache/cache_feed.h"
#include "lib/storage/watch_cache/watch_cache.h"

namespace apimesh::storage {

/// A Store on etcd with a watch cache before it. Reads and watches come from the cache at a revision that etcd has
/// confirmed; writes are one compare-and-swap.
class EtcdStore final : public Store {
 public:
  EtcdStore(SharedPtr shared, ResourceConfig config);

  Task<meta::Result<EntryPtr>> Get(meta::RequestContext ctx, Key key, GetOptions options) override;
  Task<meta::Result<std::unique_ptr<ListCursor>>> List(meta::RequestContext ctx, ListOptions options) override;
  Task<meta::Result<std::unique_ptr<Watcher>>> Watch(meta::RequestContext ctx, WatchOptions options) override;
  Task<meta::Result<EntryPtr>> Create(meta::RequestContext ctx, Key key, meta::Object object,
                                      std::chrono::seconds ttl) override;
  Task<meta::Result<UpdateResult>> GuaranteedUpdate(meta::RequestContext ctx, Key key, Preconditions preconditions,
                                                    bool create_if_missing, UpdateFn update) override;
  Task<meta::Result<EntryPtr>> Delete(meta::RequestContext ctx, Key key, Preconditions preconditions,
                                      ValidateFn validate) override;
  Task<meta::Result<>> DeleteUnreadable(meta::RequestContext ctx, Key key) override;
  Task<meta::Result<std::int64_t>> Count(meta::RequestContext ctx) override;
  meta::Result<> Ready() const override;

  const std::shared_ptr<WatchCache>& Cache() const { return cache_; }
  ResourceStats Stats() const;
  void Stop() { feed_.Stop(); }
  /// The encryption configuration has changed: fills the cache anew if something in it could not be read.
  void RereadUnreadable();

 private:
  // ---- reads (etcd_store.cc)
  /// The newest state that is at least as new as `resource_version` asks ("": as new as etcd).
  Task<meta::Result<SnapshotPtr>> Fresh(meta::RequestContext ctx, std::string resource_version);
  Task<meta::Result<SnapshotPtr>> CatchUp(Revision target, SteadyTime deadline);
  // ---- lists (list.cc)
  Task<meta::Result<std::unique_ptr<ListCursor>>> ListExact(meta::RequestContext ctx, ListOptions options,
                                                            Revision revision, std::string start);
  Task<meta::Result<std::unique_ptr<ListCursor>>> ListFromEtcd(meta::RequestContext ctx, ListOptions options,
                                                               Revision revision, std::string start);
  std::unique_ptr<ListCursor> CursorOver(const meta::RequestContext& ctx, SnapshotPtr snapshot, Filter filter, SnapshotCursor::Range range);
  Filter FilterOf(const std::string& ns, const meta::LabelSelector& labels, const meta::FieldSelector& fields) const;

  // ---- writes (write.cc)
  struct Attempt {
    CachedEntryPtr entry;  // set: written
    CachedEntryPtr current;  // not written: what is there instead; nullptr: nothing
  };
  /// The object as etcd has it now; nullptr: none.
  Task<meta::Result<CachedEntryPtr>> Live(Key key, SteadyTime deadline);
  /// An unreadable entry for what can't be read; an error if a key of encryption can't be had now.
  Task<meta::Result<CachedEntryPtr>> Read(Key key, etcd::KeyValue kv);
  Task<meta::Result<Attempt>> Put(Key key, Revision expected, std::string json, std::chrono::seconds ttl,
                                  SteadyTime deadline);
  Task<meta::Result<Attempt>> ReadBack(Key key, std::string stored, SteadyTime deadline);
  meta::Result<> Check(const CachedEntry& entry, const Preconditions& preconditions) const;

  std::string EtcdKey(const Key& key) const { return prefix_ + key.text; }
  std::string_view NameOf(const Key& key) const;
  const ResourceConfig& Config() const { return cache_->Recipe()->config; }

  const SharedPtr shared_;
  const std::string prefix_;  // ends with a slash
  const std::shared_ptr<WatchCache> cache_;
  const std::shared_ptr<EtcdObserver> observer_;  // may be nullptr
  std::atomic<std::uint64_t> lists_ = 0, indexed_lists_ = 0, consistent_reads_ = 0, failed_consistent_reads_ = 0;
  CacheFeed feed_;
};

}  // namespace apimesh::storage
