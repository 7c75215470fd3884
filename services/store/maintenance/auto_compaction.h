#pragma once

#include <deque>

#include "lib/base/clock.h"
#include "services/store/mvcc/store.h"
#include "services/store/options/options.h"

namespace apimesh::store {

/// Compacts automatically, with etcd's flags: history that is older than a period, or all but the last N revisions.
class AutoCompactor {
 public:
  AutoCompactor(EventLoop& loop, Store& store, const Clock& clock, const Options& options)
      : loop_(loop), store_(store), clock_(clock), options_(options) {}

  void Start();
  /// Checks once whether to compact. Public for tests, which set the clock.
  void Check();

 private:
  struct Sample {
    SteadyTime time;
    Revision revision;
  };
  void Schedule();
  std::chrono::nanoseconds Interval() const;

  EventLoop& loop_;
  Store& store_;
  const Clock& clock_;
  const Options& options_;
  std::deque<Sample> samples_;
};

}  // namespace apimesh::store
