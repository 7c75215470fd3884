#pragma once

#include "lib/base/clock.h"
#include "lib/meta/gvk.h"

namespace apimesh::storage {

/// What a store contains and has done since it was opened.
struct ResourceStats {
  meta::GroupResource resource;
  bool filled = false;  // if false, the number of objects is unknown
  std::size_t objects = 0;
  std::size_t bytes = 0;       // size of the objects' JSON
  std::uint64_t revision = 0;  // the newest revision that the cache has seen
  std::uint64_t events = 0;    // events that the cache has received
  std::uint64_t fills = 0;
  std::uint64_t slow_watchers = 0;  // closed because the events they needed had left the window
  std::uint64_t lists = 0, indexed_lists = 0;
  std::uint64_t consistent_reads = 0, failed_consistent_reads = 0;
};

enum class EtcdOperation { kGet, kList, kCreate, kUpdate, kDelete };
inline constexpr int kEtcdOperations = 5;

/// Observes the etcd requests of one resource's store. Thread-safe.
class EtcdObserver {
 public:
  virtual ~EtcdObserver() = default;
  virtual void Done(EtcdOperation operation, Duration took, bool succeeded) = 0;
};

/// Measures one request. Does nothing without an observer.
class EtcdTimer {
 public:
  EtcdTimer(EtcdObserver* observer, EtcdOperation operation, const Clock& clock)
      : clock_(clock), observer_(observer), operation_(operation), began_(observer ? clock.Steady() : SteadyTime()) {}
  void Done(bool succeeded) const {
    if (observer_) observer_->Done(operation_, clock_.Steady() - began_, succeeded);
  }

 private:
  const Clock& clock_;
  EtcdObserver* observer_;
  EtcdOperation operation_;
  SteadyTime began_;
};

}  // namespace apimesh::storage
