#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <mutex>

#include "lib/storage/backend.h"
#include "lib/storage/lease_pool.h"
#include "lib/storage/list_slots.h"
#include "lib/storage/read_index.h"

namespace apimesh::storage {

class WatchCache;

/// Progress requests: one of them serves all caches, because their watches share a stream. Thread-safe.
class ProgressRequests {
 public:
  /// Asks etcd how far the stream is, unless someone has just asked for as much.
  void Ask(const WatchCache& cache, Revision target);

 private:
  std::mutex mutex_;
  Revision asked_ = 0;
  SteadyTime last_{};
};

/// What the stores of one backend have in common.
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
