#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "lib/base/clock.h"
#include "services/store/mvcc/revision.h"

namespace apimesh::store {

/// Leases and the keys that live with them. It keeps time and knows attachments; deleting the keys of an expired lease
/// is the store's work. Loop thread only.
class Lessor {
 public:
  static constexpr std::int64_t kMinTtlSeconds = 2;  // as etcd with its default election timeout
  static constexpr std::int64_t kMaxTtlSeconds = 9'000'000'000;

  explicit Lessor(const Clock& clock) : clock_(clock) {}

  void Grant(LeaseId id, std::int64_t ttl_seconds);
  bool Exists(LeaseId id) const { return leases_.contains(id); }
  /// Forgets the lease.
  void Revoke(LeaseId id);
  void Attach(LeaseId id, std::string_view key);
  void Detach(LeaseId id, std::string_view key);
  /// Begins a new term; the TTL, or nothing if there is no such lease.
  std::optional<std::int64_t> Renew(LeaseId id);

  struct Info {
    std::int64_t granted_ttl = 0;
    std::int64_t remaining = 0;
    const std::set<std::string, std::less<>>* keys = nullptr;
  };
  std::optional<Info> Find(LeaseId id) const;
  /// In the order of their end.
  std::vector<LeaseId> All() const;
  /// Leases whose time is over, at most `bound`.
  std::vector<LeaseId> Expired(std::size_t bound) const;
  /// All leases begin a new term: time did not count while nobody could renew.
  void RenewAll();

 private:
  struct Lease {
    std::int64_t ttl = 0;
    SteadyTime expiry;
    std::set<std::string, std::less<>> keys;
  };
  void Schedule(LeaseId id, Lease& lease);

  const Clock& clock_;
  std::unordered_map<LeaseId, Lease> leases_;
  std::set<std::pair<SteadyTime, LeaseId>> by_expiry_;
};

}  // namespace apimesh::store
