#include "lib/storage/etcd_store/lease_pool.h"

#include <algorithm>

namespace apimesh::storage {
namespace {
constexpr int kObjectsPerLease = 1000;
}  // namespace

Task<etcd::Result<std::int64_t>> LeasePool::Lease(etcd::Client& client, std::chrono::seconds ttl, SteadyTime deadline) {
  const std::chrono::seconds reuse = std::clamp(ttl / 20, std::chrono::seconds(0), longest_reuse_);
  const SteadyTime now = clock_.Steady();
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = open_.find(ttl); found != open_.end()) {
      Open& open = found->second;
      if (now + ttl < open.expires && ++open.objects <= kObjectsPerLease) co_return open.id;
    }
  }
  auto granted = co_await client.GrantLease(ttl + reuse, deadline);
  if (!granted) co_return granted.error();
  const std::lock_guard lock(mutex_);
  open_[ttl] = {*granted, now + ttl + reuse, 1};
  co_return *granted;
}

}  // namespace apimesh::storage
