#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "lib/base/wakeup.h"
#include "lib/etcd/client.h"

namespace apimesh::testing {

/// An etcd in memory: revisions, history, compaction, leases (that never run out by themselves) and watches behave as those
/// of the real one. Failures come when the test asks for them. Thread-safe.
class FakeEtcd final : public etcd::Client {
 public:
  FakeEtcd();
  ~FakeEtcd() override;

  Task<etcd::Result<etcd::RangeResult>> Range(std::string key, etcd::RangeOptions options) override;
  Task<etcd::Result<etcd::Revision>> Put(std::string key, std::string value, std::int64_t lease,
                                         SteadyTime deadline) override;
  Task<etcd::Result<etcd::SwapResult>> Swap(etcd::CompareAndSwap swap) override;
  Task<etcd::Result<std::int64_t>> DeleteRange(std::string key, std::string range_end, SteadyTime deadline) override;
  Task<etcd::Result<etcd::Revision>> Compact(etcd::Revision revision, SteadyTime deadline) override;
  std::unique_ptr<etcd::Watch> OpenWatch(etcd::WatchOptions options) override;
  Task<etcd::Result<std::int64_t>> GrantLease(std::chrono::seconds ttl, SteadyTime deadline) override;
  Task<etcd::Result<>> RevokeLease(std::int64_t lease, SteadyTime deadline) override;
  Task<etcd::Result<>> KeepLeaseAlive(std::int64_t lease, SteadyTime deadline) override;
  Task<etcd::Result<etcd::Status>> GetStatus(SteadyTime deadline) override;
  bool ProgressIsSafe() const override;

  // ---- what tests do to it
  enum class Fault {
    kNone,
    kUnavailable,         // not executed, and said so
    kAmbiguousNotDone,    // a write that was lost on its way
    kAmbiguousDone,       // a write that was executed, its answer lost
  };
  /// The next `count` writes end so.
  void FailWrites(Fault fault, int count = 1);
  /// Reads fail with kUnavailable while set.
  void FailReads(bool on);
  /// Reads that come while set wait until it is unset.
  void HoldReads(bool on);
  /// Events and progress wait while set: caches fall behind.
  void HoldWatches(bool on);
  /// All open watches end with this error at their next step.
  void EndWatches(etcd::Error error);
  void SetProgressSafe(bool safe);
  /// Forgets everything after `revision`, as a restore from a backup does; watches that saw more end with kFutureRevision.
  void RestoreTo(etcd::Revision revision);
  /// Runs before the next write, inside it: another writer that comes first. Must not call this object's coroutines.
  void BeforeNextWrite(std::function<void(FakeEtcd&)> other);
  /// A plain write, at once.
  etcd::Revision Set(const std::string& key, std::optional<std::string> value);

  etcd::Revision NewestRevision() const;
  int Reads() const;
  int Writes() const;

 private:
  class FakeWatch;
  /// What to do with a write; mutex_ is held.
  etcd::Revision Apply(const std::string& key, std::optional<std::string> value, std::int64_t lease);
  std::optional<etcd::Error> TakeFault(Fault* fault);
  const etcd::KeyValue* At(const std::string& key, etcd::Revision revision) const;
  void WakeWatches();

  mutable std::mutex mutex_;  // guards all below
  etcd::Revision revision_ = 1;
  etcd::Revision compacted_ = 0;
  std::map<std::string, std::vector<etcd::KeyValue>> keys_;  // version 0: deleted at mod_revision
  std::vector<etcd::WatchEvent> log_;
  std::set<FakeWatch*> watches_;
  std::deque<Fault> faults_;
  bool fail_reads_ = false;
  bool hold_reads_ = false;
  std::vector<std::shared_ptr<Wakeup>> held_reads_;
  bool hold_watches_ = false;
  bool progress_safe_ = true;
  std::function<void(FakeEtcd&)> before_write_;
  std::int64_t last_lease_ = 0;
  int reads_ = 0;
  int writes_ = 0;
};

}  // namespace apimesh::testing
