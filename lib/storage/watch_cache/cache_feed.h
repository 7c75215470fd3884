#pragma once

#include <memory>
#include <string>

#include "lib/storage/entry/shared.h"
#include "lib/storage/watch_cache/watch_cache.h"

namespace apimesh::storage {

/// Keeps one cache equal to etcd: lists the resource in pages, then follows one watch. It lists again only after etcd
/// has compacted the revisions that come next or was restored to an older state.
class CacheFeed {
 public:
  /// `prefix` ends with a slash.
  CacheFeed(SharedPtr shared, std::shared_ptr<WatchCache> cache, std::string prefix,
            std::shared_ptr<EtcdObserver> observer = nullptr);
  ~CacheFeed() { Stop(); }
  CacheFeed(const CacheFeed&) = delete;
  CacheFeed& operator=(const CacheFeed&) = delete;

  void Stop();
  /// Lists the resource again soon, because stored values may decode differently now.
  void Refill();

  /// A key just outside of the resource's prefix that the feed's watch covers. Writing it shows how far the watch has
  /// come on versions of etcd whose progress notifications cannot be trusted. No list of the resource contains it.
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
