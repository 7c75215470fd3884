#pragma once

#include <memory>
#include <string>

#include "lib/storage/shared.h"
#include "lib/storage/watch_cache/watch_cache.h"

namespace apimesh::storage {

/// Keeps one cache equal to etcd: lists the resource in pages, then follows one watch; lists again only when etcd has
/// compacted what comes next, or was restored to an older state.
class CacheFeed {
 public:
  /// `prefix` ends with a slash.
  CacheFeed(SharedPtr shared, std::shared_ptr<WatchCache> cache, std::string prefix, std::shared_ptr<EtcdObserver> observer = nullptr);
  ~CacheFeed() { Stop(); }
  CacheFeed(const CacheFeed&) = delete;
  CacheFeed& operator=(const CacheFeed&) = delete;

  void Stop();
  /// Lists again, soon: what was read may read differently now.
  void Refill();

  /// Where a key just outside of the resource lies that the feed's watch still sees. Writing it tells how far the watch is
  /// on versions of etcd whose progress notifications can't be trusted. No list of the resource ever shows it.
  static std::string MarkerKey(const std::string& prefix);

 private:
  struct State;
  static Task<> Run(std::shared_ptr<State> state);
  static Task<etcd::Result<Revision>> List(std::shared_ptr<State> state);
  static Task<> Mark(std::shared_ptr<State> state);
  static Task<etcd::Error> Follow(std::shared_ptr<State> state, Revision revision);

  std::shared_ptr<State> state_;
};

}  // namespace apimesh::storage
