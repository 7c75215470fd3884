#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

/// Records what clients of a store did and saw, and checks whether a correct store could have responded that way. For
/// tests.
namespace apimesh::store::crash {

struct Write {
  std::string key, value;           // values are unique; empty: a deletion
  double called = 0, returned = 0;  // seconds
  std::int64_t revision = 0;        // 0: the outcome is unknown
};
struct Read {
  std::string key;
  double called = 0, returned = 0;
  std::int64_t revision = 0;      // the revision of the store in the response
  std::int64_t mod_revision = 0;  // 0: no such key
  std::string value;
};
struct Event {
  std::int64_t revision = 0;
  std::string key, value;  // value empty: deleted
  double seen = 0;
};
/// A key that exists as long as its lease.
struct LeasedKey {
  std::string key;
  double renewed = 0;  // when the last acknowledged renewal was requested
  double ttl = 0;
};

/// Thread-safe while it is filled. Every write has its own revision, so revisions are the order in which a correct
/// store executed the writes. Check() verifies that everything the clients saw agrees with that order and with real
/// time.
class History {
 public:
  void Add(Write write);
  void Add(Read read);
  /// Adds an event of the watcher that covers all keys from revision 2 on and is resumed after each interruption.
  void Add(Event event);
  /// Adds an event of another watcher of keys that begin with `prefix`, which is resumed in the same way.
  void AddTo(std::size_t watcher, const std::string& prefix, Event event);
  /// Adds a lease that is no longer renewed. Its key must be deleted at the end, and must not have been deleted before
  /// the lease expired.
  void Add(LeasedKey key);
  void AddFault(std::string fault);
  std::size_t Acknowledged() const;

  /// Returns descriptions of all violations. Empty: the history is linearizable, watches are ordered, unique and
  /// complete, and leases were respected.
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
