#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "lib/storage/entry/shared.h"
#include "lib/storage/etcd_store/snapshot_cursor.h"
#include "lib/storage/watch_cache/cache_feed.h"
#include "lib/storage/watch_cache/watch_cache.h"

namespace apimesh::storage {

/// A Store on etcd behind a watch cache. Reads and watches are served from the cache at a revision that etcd has
/// confirmed; a write is one compare-and-swap.
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
  Task<meta::Result<meta::Object>> AsRead(meta::Object object) override;
  Task<meta::Result<EntryPtr>> Delete(meta::RequestContext ctx, Key key, Preconditions preconditions,
                                      ValidateFn validate) override;
  Task<meta::Result<>> DeleteUnreadable(meta::RequestContext ctx, Key key) override;
  Task<meta::Result<std::int64_t>> Count(meta::RequestContext ctx) override;
  meta::Result<> Ready() const override;

  const std::shared_ptr<WatchCache>& Cache() const { return cache_; }
  ResourceStats Stats() const;
  void Stop() { feed_.Stop(); }
  /// Must be called after the encryption configuration has changed: fills the cache again if it contains unreadable
  /// objects.
  void RereadUnreadable();

 private:
  // ---- reads (etcd_store.cc)
  /// Returns the newest state, which is at least as new as `resource_version` ("": as new as etcd). Returns nullptr if
  /// the cache cannot be filled because objects cannot be converted; the caller then reads from etcd.
  Task<meta::Result<SnapshotPtr>> SnapshotNotOlderThan(meta::RequestContext ctx, std::string resource_version);
  Task<meta::Result<SnapshotPtr>> CatchUp(Revision target, SteadyTime deadline);
  Task<meta::Result<EntryPtr>> GetFromEtcd(meta::RequestContext ctx, Key key);
  // ---- lists (list.cc)
  Task<meta::Result<std::unique_ptr<ListCursor>>> ListExact(meta::RequestContext ctx, ListOptions options,
                                                            Revision revision, std::string start);
  Task<meta::Result<std::unique_ptr<ListCursor>>> ListNewestFromEtcd(meta::RequestContext ctx, ListOptions options,
                                                                     std::string start);
  Task<meta::Result<std::unique_ptr<ListCursor>>> ListFromEtcd(meta::RequestContext ctx, ListOptions options,
                                                               Revision revision, std::string start);
  std::unique_ptr<ListCursor> CursorOver(const meta::RequestContext& ctx, SnapshotPtr snapshot, Filter filter,
                                         SnapshotCursor::Range range);
  Filter FilterOf(const std::string& ns, const meta::LabelSelector& labels, const meta::FieldSelector& fields) const;

  // ---- writes (write.cc; reads of single values are in read.cc)
  struct Attempt {
    CachedEntryPtr entry;    // set: the object was written
    CachedEntryPtr current;  // not written: the object that etcd has instead; nullptr: none
  };
  /// Returns the object as etcd has it now, or nullptr if there is none.
  Task<meta::Result<CachedEntryPtr>> ReadFromEtcd(meta::RequestContext ctx, Key key, SteadyTime deadline);
  /// Decodes a value. Returns an unreadable entry if it cannot be decoded, and an error if its encryption key cannot be
  /// fetched now.
  Task<meta::Result<CachedEntryPtr>> Read(Key key, etcd::KeyValue kv);
  /// Decodes values whose encryption keys were fetched. An error means that they could not be converted.
  Task<meta::Result<std::vector<CachedEntryPtr>>> ReadAll(std::vector<StoredValue> values);
  /// An object to be written. `stored` is the converted form of a resource with a SuspendingConversion, once it is
  /// known.
  struct Outgoing {
    std::string json;
    std::optional<std::string> stored = std::nullopt;
  };
  Task<meta::Result<Attempt>> Put(meta::RequestContext ctx, Key key, Revision expected, Outgoing object,
                                  std::chrono::seconds ttl, SteadyTime deadline);
  Task<meta::Result<Attempt>> ReadBack(meta::RequestContext ctx, Key key, std::string sealed, Outgoing object,
                                       SteadyTime deadline);
  /// Creates the entry of an object that was written.
  meta::Result<CachedEntryPtr> Written(const Key& key, Revision revision, const Outgoing& object) const;
  /// Converts the object to the stored form, if that may suspend.
  Task<meta::Result<>> ConvertToStored(Outgoing& object);
  /// Converts the stored form back, if that may suspend: a client sees the object as a reader of the stored value does.
  Task<meta::Result<>> ConvertToRead(Outgoing& object);
  meta::Result<> Check(const CachedEntry& entry, const Preconditions& preconditions) const;

  // ---- spans (spans.cc); nullptr if the request is not traced
  /// Starts the span of a write. `object` may be nullptr.
  tracing::SpanPtr SpanOf(const meta::RequestContext& ctx, std::string_view step, const Key& key,
                          const meta::Object* object) const;
  tracing::SpanPtr SpanOfGet(const meta::RequestContext& ctx, const Key& key, const GetOptions& options) const;
  /// Starts the span of a list or a watch.
  tracing::SpanPtr SpanOfMany(const meta::RequestContext& ctx, std::string_view step) const;

  std::string EtcdKey(const Key& key) const { return prefix_ + key.text; }
  std::string_view NameOf(const Key& key) const;
  const ResourceConfig& Config() const { return cache_->Recipe()->config; }

  const SharedPtr shared_;
  const std::string prefix_;  // with a trailing slash
  const std::shared_ptr<WatchCache> cache_;
  const std::shared_ptr<EtcdObserver> observer_;  // may be nullptr
  std::atomic<std::uint64_t> lists_ = 0, indexed_lists_ = 0, consistent_reads_ = 0, failed_consistent_reads_ = 0;
  CacheFeed feed_;
};

}  // namespace apimesh::storage
