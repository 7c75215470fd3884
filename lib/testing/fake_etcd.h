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

#include "lib/base/async/wakeup.h"
#include "lib/etcd/client.h"

namespace apimesh::testing {

/// An in-memory etcd. Revisions, history, compaction, leases (which never expire by themselves) and watches behave like
/// those of a real etcd. Tests can inject failures. Thread-safe.
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

  // ---- Functions for tests
  enum class Fault {
    kNone,
    kUnavailable,       // not executed, and reported as such
    kAmbiguousNotDone,  // outcome unknown: the write is not executed
    kAmbiguousDone,     // outcome unknown: the write is executed, the response is lost
  };
  /// Makes the next `count` writes fail with `fault`.
  void FailWrites(Fault fault, int count = 1);
  /// While set, reads fail with kUnavailable.
  void FailReads(bool on);
  /// While set, new reads wait until it is cleared.
  void HoldReads(bool on);
  /// While set, events and progress notifications are delayed, so that caches fall behind.
  void HoldWatches(bool on);
  /// Ends all open watches with this error at their next step.
  void EndWatches(etcd::Error error);
  void SetProgressSafe(bool safe);
  /// Removes all changes after `revision`, like a restore from a backup. Watches that received later revisions end with
  /// kFutureRevision.
  void RestoreTo(etcd::Revision revision);
  /// Runs `other` inside the next write, before it is executed, to simulate a concurrent writer. `other` must not call
  /// coroutines of this object.
  void BeforeNextWrite(std::function<void(FakeEtcd&)> other);
  /// Writes a key synchronously; nullopt deletes it.
  etcd::Revision Set(const std::string& key, std::optional<std::string> value);

  etcd::Revision NewestRevision() const;
  int Reads() const;
  int Writes() const;

 private:
  class FakeWatch;
  /// Executes a write. The caller must hold mutex_.
  etcd::Revision Apply(const std::string& key, std::optional<std::string> value, std::int64_t lease);
  std::optional<etcd::Error> TakeFault(Fault* fault);
  const etcd::KeyValue* At(const std::string& key, etcd::Revision revision) const;
  void WakeWatches();

  mutable std::mutex mutex_;  // guards all members below
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
