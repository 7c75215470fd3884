#include "services/store/lease/lessor.h"

#include <algorithm>

namespace apimesh::store {

void Lessor::Schedule(LeaseId id, Lease& lease) {
  by_expiry_.erase({lease.expiry, id});
  lease.expiry = clock_.Steady() + std::chrono::seconds(lease.ttl);
  by_expiry_.emplace(lease.expiry, id);
}

void Lessor::Grant(LeaseId id, std::int64_t ttl_seconds) {
  Lease& lease = leases_[id];
  lease.ttl = ttl_seconds;
  Schedule(id, lease);
}

void Lessor::Revoke(LeaseId id) {
  const auto found = leases_.find(id);
  if (found == leases_.end()) return;
  by_expiry_.erase({found->second.expiry, id});
  leases_.erase(found);
}

void Lessor::Attach(LeaseId id, std::string_view key) {
  const auto found = leases_.find(id);
  if (found != leases_.end()) found->second.keys.emplace(key);
}

void Lessor::Detach(LeaseId id, std::string_view key) {
  const auto found = leases_.find(id);
  if (found == leases_.end()) return;
  const auto attached = found->second.keys.find(key);
  if (attached != found->second.keys.end()) found->second.keys.erase(attached);
}

std::optional<std::int64_t> Lessor::Renew(LeaseId id) {
  const auto found = leases_.find(id);
  // An expired lease counts as revoked, even if its keys are still being deleted.
  if (found == leases_.end() || found->second.expiry <= clock_.Steady()) return std::nullopt;
  Schedule(id, found->second);
  return found->second.ttl;
}

std::optional<Lessor::Info> Lessor::Find(LeaseId id) const {
  const auto found = leases_.find(id);
  if (found == leases_.end()) return std::nullopt;
  const Lease& lease = found->second;
  const auto left = std::chrono::floor<std::chrono::seconds>(lease.expiry - clock_.Steady()).count();
  return Info{lease.ttl, std::max<std::int64_t>(left, 0), &lease.keys};
}

std::vector<LeaseId> Lessor::All() const {
  std::vector<LeaseId> ids;
  ids.reserve(by_expiry_.size());
  for (const auto& [expiry, id] : by_expiry_) ids.push_back(id);
  return ids;
}

std::vector<LeaseId> Lessor::Expired(std::size_t bound) const {
  std::vector<LeaseId> ids;
  const SteadyTime now = clock_.Steady();
  for (const auto& [expiry, id] : by_expiry_) {
    if (expiry > now || ids.size() == bound) break;
    ids.push_back(id);
  }
  return ids;
}

void Lessor::RenewAll() {
  for (auto& [id, lease] : leases_) Schedule(id, lease);
}

}  // namespace apimesh::store
