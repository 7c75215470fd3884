#pragma once

#include <memory>
#include <mutex>

#include <boost/asio/any_io_executor.hpp>

#include "lib/storage/backend.h"
#include "lib/storage/etcd_store/lease_pool.h"
#include "lib/storage/etcd_store/list_slots.h"
#include "lib/storage/etcd_store/read_index.h"

namespace apimesh::storage {

class WatchCache;

/// Sends progress requests. One request serves all caches, because their watches share a stream. Thread-safe.
class ProgressRequests {
 public:
  /// Requests a progress notification, unless one for at least this revision was requested a moment ago.
  void Ask(const WatchCache& cache, Revision target, SteadyTime now);

 private:
  std::mutex mutex_;
  Revision asked_ = 0;
  SteadyTime last_{};
};

/// What the stores of one backend share.
struct Shared {
  std::shared_ptr<etcd::Client> client;
  boost::asio::any_io_executor executor;
  BackendOptions options;
  std::shared_ptr<ReadIndex> read_index;
  LeasePool leases;
  ProgressRequests progress;
  ListSlots list_slots;
};
using SharedPtr = std::shared_ptr<Shared>;

}  // namespace apimesh::storage
