#include "services/store/maintenance/auto_compaction.h"

#include <algorithm>

#include "lib/base/log.h"

namespace apimesh::store {

void AutoCompactor::Start() {
  if (options_.auto_compaction != AutoCompaction::kOff) Schedule();
}

std::chrono::nanoseconds AutoCompactor::Interval() const {
  if (options_.auto_compaction == AutoCompaction::kRevision) return std::chrono::minutes(5);
  // A tenth of the period, so that the history is at most that much longer than requested.
  return std::clamp<std::chrono::nanoseconds>(options_.auto_compaction_period / 10, std::chrono::milliseconds(100),
                                              std::chrono::hours(1));
}

void AutoCompactor::Schedule() {
  loop_.After(Interval(), [this] {
    Check();
    Schedule();
  });
}

void AutoCompactor::Check() {
  Revision target = 0;
  if (options_.auto_compaction == AutoCompaction::kRevision) {
    target = store_.Durable() - options_.auto_compaction_revisions;
  } else {
    const SteadyTime now = clock_.Steady();
    samples_.push_back({now, store_.Durable()});
    while (!samples_.empty() && now - samples_.front().time >= options_.auto_compaction_period) {
      target = samples_.front().revision;
      samples_.pop_front();
    }
  }
  if (target <= store_.Compacted() || target <= 1) return;
  log::Info("compacting history up to revision {}", target);
  store_.Compact(target, nullptr);
}

}  // namespace apimesh::store
