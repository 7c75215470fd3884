#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// What clients of a store did and saw, and whether a correct store could have answered so. For tests.
namespace apimesh::store::crash {

struct Write {
  std::string key, value;            // values are unique; empty: a deletion
  double called = 0, returned = 0;   // seconds
  std::int64_t revision = 0;         // 0: the outcome is unknown
};
struct Read {
  std::string key;
  double called = 0, returned = 0;
  std::int64_t revision = 0;         // of the store, as the answer says
  std::int64_t mod_revision = 0;     // 0: no such key
  std::string value;
};
struct Event {
  std::int64_t revision = 0;
  std::string key, value;            // value empty: deleted
  double seen = 0;
};
/// A key that lives as long as its lease.
struct LeasedKey {
  std::string key;
  double renewed = 0;                // when the last renewal that was acknowledged was called for
  double ttl = 0;
};

/// Thread-safe while it is filled. Every write has a revision of its own, so the revisions are the order in which a
/// correct store executed the writes; Check() asks whether everything seen fits that order and real time.
class History {
 public:
  void Add(Write write);
  void Add(Read read);
  /// Events of the watcher that covers all keys from revision 2 on, resumed after each break.
  void Add(Event event);
  /// Events of other watchers, of keys that begin with `prefix`, resumed in the same way.
  void AddTo(std::size_t watcher, const std::string& prefix, Event event);
  /// A lease that nobody renewed any more; its key must be gone at the end, and not have gone before its time.
  void Add(LeasedKey key);
  void AddFault(std::string fault);
  std::size_t Acknowledged() const;

  /// Sentences about what is wrong; none: linearizable, watches ordered, unique and complete, leases
  /// kept.
  std::vector<std::string> Check() const;

 private:
  void CheckWatch(std::vector<std::string>& faults) const;
  void CheckWrites(std::vector<std::string>& faults) const;
  void CheckRealTime(std::vector<std::string>& faults) const;
  void CheckReads(std::vector<std::string>& faults) const;
  void CheckOtherWatchers(std::vector<std::string>& faults) const;
  void CheckLeases(std::vector<std::string>& faults) const;

  struct PrefixWatcher {
    std::string prefix;
    std::vector<Event> events;
  };
  mutable std::mutex mutex_;
  std::vector<Write> writes_;
  std::vector<Read> reads_;
  std::vector<Event> events_;
  std::map<std::size_t, PrefixWatcher> others_;
  std::vector<LeasedKey> leased_;
  std::vector<std::string> faults_;
};

}  // namespace apimesh::store::crash
