#pragma once

#include <algorithm>
#include <chrono>
#include <map>
#include <mutex>

#include "lib/etcd/client.h"

namespace apimesh::storage {

/// Shares leases between objects that expire at about the same time, with the rules of kube-apiserver: one lease serves
/// up to 1000 objects for at most `longest_reuse` and 5 % of the lifetime. With a `longest_reuse` of 0 each object has
/// its own lease. Thread-safe.
class LeasePool {
 public:
  LeasePool(std::chrono::seconds longest_reuse, const Clock& clock)
      : longest_reuse_(std::max(longest_reuse, std::chrono::seconds(0))), clock_(clock) {}

  Task<etcd::Result<std::int64_t>> Lease(etcd::Client& client, std::chrono::seconds ttl, SteadyTime deadline);

 private:
  struct Open {
    std::int64_t id = 0;
    SteadyTime expires;
    int objects = 0;
  };
  const std::chrono::seconds longest_reuse_;
  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::chrono::seconds, Open> open_;  // by lifetime; guarded by mutex_
};

}  // namespace apimesh::storage
