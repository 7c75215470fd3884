#pragma once

#include "lib/base/clock.h"
#include "lib/meta/gvk.h"

namespace apimesh::storage {

/// What a store holds and has done since it was opened.
struct ResourceStats {
  meta::GroupResource resource;
  bool filled = false;  // without it, the number of objects is not known
  std::size_t objects = 0;
  std::size_t bytes = 0;       // of their JSON
  std::uint64_t revision = 0;  // that the cache has seen
  std::uint64_t events = 0;    // that the cache was told
  std::uint64_t fills = 0;
  std::uint64_t slow_watchers = 0;  // closed because the window went past them
  std::uint64_t lists = 0, indexed_lists = 0;
  std::uint64_t consistent_reads = 0, failed_consistent_reads = 0;
};

enum class EtcdOperation { kGet, kList, kCreate, kUpdate, kDelete };
inline constexpr int kEtcdOperations = 5;

/// Is told of the requests that the store of one resource makes to etcd. Thread-safe.
class EtcdObserver {
 public:
  virtual ~EtcdObserver() = default;
  virtual void Done(EtcdOperation operation, Duration took, bool succeeded) = 0;
};

/// One request under way. Without an observer it does nothing.
class EtcdTimer {
 public:
  EtcdTimer(EtcdObserver* observer, EtcdOperation operation)
      : observer_(observer), operation_(operation), began_(observer ? std::chrono::steady_clock::now() : SteadyTime()) {}
  void Done(bool succeeded) const {
    if (observer_) observer_->Done(operation_, std::chrono::steady_clock::now() - began_, succeeded);
  }

 private:
  EtcdObserver* observer_;
  EtcdOperation operation_;
  SteadyTime began_;
};

}  // namespace apimesh::storage
