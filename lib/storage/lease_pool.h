#pragma once

#include <map>
#include <mutex>

#include "lib/etcd/client.h"

namespace apimesh::storage {

/// Leases shared by objects that expire at about the same time, as the reference shares them: one lease serves up to 1000
/// objects for at most a minute (and 5 % of the lifetime). Thread-safe.
class LeasePool {
 public:
  Task<etcd::Result<std::int64_t>> Lease(etcd::Client& client, std::chrono::seconds ttl, SteadyTime deadline);

 private:
  struct Open {
    std::int64_t id = 0;
    SteadyTime expires;
    int objects = 0;
  };
  std::mutex mutex_;
  std::map<std::chrono::seconds, Open> open_;  // by lifetime; guarded by mutex_
};

}  // namespace apimesh::storage
