#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "services/store/durability/journal.h"
#include "services/store/lease/lessor.h"
#include "services/store/mvcc/key_index.h"
#include "services/store/mvcc/recent_changes.h"
#include "services/store/net/status.h"

namespace apimesh::store {

/// The keys, their history and the leases. The newest state is in memory; values may be on disk.
///
/// A write takes effect here immediately but stays invisible until it is durable: readers and watchers see the state at
/// Durable(), and a writer's response waits until its entry is durable. So does the response of a transaction that only
/// read state which is not yet durable. Therefore nothing that a client has seen can be lost. Must be used on the loop
/// thread only.
class Store {
 public:
  Store(Journal& journal, Lessor& lessor) : journal_(journal), lessor_(lessor) {}

  /// Loads the contents of the journal.
  void Recover();

  Revision Applied() const { return applied_; }  // the state on which the next write is based
  Revision Durable() const { return durable_; }  // the state that readers see
  Revision Compacted() const { return compacted_; }
  bool NoSpaceAlarm() const { return no_space_; }
  std::size_t Keys() const { return index_.size(); }

  const KeyIndex& index() const { return index_; }
  Lessor& lessor() { return lessor_; }
  std::string_view ValueOf(ChangeId id) const;
  /// Returns the version of a key that a reader at `revision` sees, as a change with its value.
  std::optional<Change> Get(std::string_view key, Revision revision) const;
  Change WithValue(std::string_view key, const KeyVersion& version) const;
  /// Visits the changes in [from, to] in order until `visit` returns false. The value is set if it is in memory;
  /// ValueOf() returns it otherwise.
  void ScanChanges(Revision from, Revision to, const std::function<bool(const Change&)>& visit) const;

  // Writes. A transaction is any number of the calls below between Begin() and End().
  void Begin();
  /// The key's previous version becomes garbage for the next compaction. Returns the revision of the transaction.
  Revision Put(std::string_view key, std::string_view value, LeaseId lease);
  bool Delete(std::string_view key);
  void GrantLease(LeaseId id, std::int64_t ttl_seconds);
  /// Also deletes the keys of the lease.
  void RevokeLease(LeaseId id);
  void SetNoSpaceAlarm(bool active);
  /// Appends the entry to the journal if anything changed.
  void End();
  /// Returns whether the open transaction has changed a key and therefore has its own revision.
  bool Changed() const { return next_sub_ > 0; }

  /// From now on, readers below `revision` get "compacted". The space is freed in the background; `physical` runs
  /// afterwards.
  Status Compact(Revision revision, std::function<void()> physical);

  /// Runs `ready` when everything that was applied so far is durable, or immediately if it already is.
  void WhenDurable(std::function<void()> ready);
  /// Called after Durable() has increased, before any waiting caller continues.
  std::function<void(Revision before, Revision now)> on_durable;

  void OnDurable(std::uint64_t sequence);
  void OnBaseGrew(Revision in_base);

 private:
  class FromBase;
  class FromLog;
  void Apply(const Change& change);
  void RunCompaction();

  Journal& journal_;
  Lessor& lessor_;
  KeyIndex index_;
  RecentChanges recent_;
  Revision applied_ = 1;
  Revision durable_ = 1;
  Revision compacted_ = 0;
  bool no_space_ = false;
  std::uint64_t durable_sequence_ = 0;
  std::uint32_t next_sub_ = 0;
  EntryWriter entry_;

  struct Waiting {
    std::uint64_t sequence;
    std::function<void()> ready;
  };
  struct InFlight {
    std::uint64_t sequence;
    Revision revision;
  };
  std::deque<Waiting> waiting_;
  std::deque<InFlight> in_flight_;
  Revision compacting_ = 0;  // the revision of the running compaction; 0: none
  std::vector<ChangeId> dropped_;
  std::vector<std::function<void()>> physical_;
};

}  // namespace apimesh::store
