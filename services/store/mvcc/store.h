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

/// The keys, their history and the leases: the newest state in memory, values behind it.
///
/// A write takes effect here at once and is told to nobody until it is durable: readers and watchers see the state at
/// Durable(), a writer's answer waits for its entry, and so does the answer of a transaction that only looked at state
/// that is still on its way to the disk. So nothing that anybody saw can be lost. Loop thread only.
class Store {
 public:
  Store(Journal& journal, Lessor& lessor) : journal_(journal), lessor_(lessor) {}

  /// Loads what the journal has.
  void Recover();

  Revision Applied() const { return applied_; }      // what the next write builds on
  Revision Durable() const { return durable_; }      // what readers see
  Revision Compacted() const { return compacted_; }
  bool NoSpaceAlarm() const { return no_space_; }
  std::size_t Keys() const { return index_.size(); }

  const KeyIndex& index() const { return index_; }
  Lessor& lessor() { return lessor_; }
  std::string_view ValueOf(ChangeId id) const;
  /// The version of a key that a reader at `revision` sees, as a change with its value.
  std::optional<Change> Get(std::string_view key, Revision revision) const;
  Change WithValue(std::string_view key, const KeyVersion& version) const;
  /// Changes in [from, to], in order, until `visit` returns false. The value is filled in where memory has it; ValueOf()
  /// finds it otherwise.
  void ScanChanges(Revision from, Revision to, const std::function<bool(const Change&)>& visit) const;

  // Writing. A transaction is any number of the calls below between Begin() and End().
  void Begin();
  /// The changed key's previous version is garbage at the next compaction. Returns the revision of the transaction.
  Revision Put(std::string_view key, std::string_view value, LeaseId lease);
  bool Delete(std::string_view key);
  void GrantLease(LeaseId id, std::int64_t ttl_seconds);
  /// Deletes the lease's keys, too.
  void RevokeLease(LeaseId id);
  void SetNoSpaceAlarm(bool active);
  /// Appends the entry if anything changed.
  void End();
  /// Whether the open transaction has changed a key, and so has a revision of its own.
  bool Changed() const { return next_sub_ > 0; }

  /// Readers below `revision` get "compacted" from now on; the space comes back in the background. `physical` runs when
  /// it has.
  Status Compact(Revision revision, std::function<void()> physical);

  /// Runs `ready` when everything applied so far is durable: at once, if it is.
  void WhenDurable(std::function<void()> ready);
  /// Called after Durable() has grown, before anybody waiting is told.
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
  Revision compacting_ = 0;  // the revision of the compaction that runs; 0: none
  std::vector<ChangeId> dropped_;
  std::vector<std::function<void()>> physical_;
};

}  // namespace apimesh::store
