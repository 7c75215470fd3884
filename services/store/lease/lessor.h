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

/// Leases and the keys that are attached to them. It tracks time and attachments; the store deletes the keys of an
/// expired lease. Must be used on the loop thread only.
class Lessor {
 public:
  static constexpr std::int64_t kMinTtlSeconds = 2;  // as in etcd with its default election timeout
  static constexpr std::int64_t kMaxTtlSeconds = 9'000'000'000;

  explicit Lessor(const Clock& clock) : clock_(clock) {}

  void Grant(LeaseId id, std::int64_t ttl_seconds);
  bool Exists(LeaseId id) const { return leases_.contains(id); }
  /// Removes the lease.
  void Revoke(LeaseId id);
  void Attach(LeaseId id, std::string_view key);
  void Detach(LeaseId id, std::string_view key);
  /// Starts a new term. Returns the TTL, or nothing if the lease does not exist.
  std::optional<std::int64_t> Renew(LeaseId id);

  struct Info {
    std::int64_t granted_ttl = 0;
    std::int64_t remaining = 0;
    const std::set<std::string, std::less<>>* keys = nullptr;
  };
  std::optional<Info> Find(LeaseId id) const;
  /// Returns the leases in the order of their expiry.
  std::vector<LeaseId> All() const;
  /// Returns at most `bound` expired leases.
  std::vector<LeaseId> Expired(std::size_t bound) const;
  /// Starts a new term for all leases: time during which no client could renew a lease does not count.
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
