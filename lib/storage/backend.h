#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string>

#include "lib/base/clock.h"
#include "lib/encryption/encryption.h"
#include "lib/etcd/client.h"
#include "lib/storage/stats.h"
#include "lib/storage/store.h"

namespace apimesh::storage {

struct BackendOptions {
  std::string prefix = "/registry";  // --etcd-prefix
  /// Once among all replicas that share the etcd. 0: never.
  Duration compaction_interval = std::chrono::minutes(5);
  /// The events a resource keeps for watches that resume: those of the last `window`, at most `window_bytes`.
  Duration window = std::chrono::seconds(75);
  std::size_t window_bytes = 16u << 20;
  Duration bookmark_interval = std::chrono::minutes(1);
  /// How long a read waits for the cache to catch up.
  Duration read_timeout = std::chrono::seconds(10);
  std::chrono::seconds lease_reuse{60};  // --lease-reuse-duration-seconds; see LeasePool
  std::size_t lists_in_flight = 8;  // while caches fill
  std::int64_t list_page = 2000;
  /// nullptr: objects are stored as they are, and what is marked as encrypted can't be read.
  std::shared_ptr<encryption::Encryption> encryption;
  /// Makes who is told of a resource's requests to etcd; may be empty.
  std::function<std::shared_ptr<EtcdObserver>(const meta::GroupResource& resource)> observer;
};

/// What the stores of one etcd have in common: the client, the revision read that serves many readers at once, leases,
/// compaction. Thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;
  /// A store for one resource; its cache begins to fill at once. The cache ends with the store.
  virtual StorePtr Open(ResourceConfig config) = 0;
  /// Of all stores that are open.
  virtual std::vector<ResourceStats> Stats() const = 0;
  /// Ends the background work of the backend and of all its stores: watchers end, reads fail.
  virtual void Stop() = 0;
};

/// Background loops run on `executor`, which must outlive them.
std::shared_ptr<Backend> NewBackend(std::shared_ptr<etcd::Client> client, boost::asio::any_io_executor executor,
                                    BackendOptions options = {});

}  // namespace apimesh::storage
