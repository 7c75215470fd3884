#pragma once

#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>

#include "lib/base/clock.h"
#include "lib/encryption/encryption.h"
#include "lib/etcd/client.h"
#include "lib/storage/stats.h"
#include "lib/storage/store.h"

namespace apimesh::storage {

struct BackendOptions {
  const Clock& clock;
  std::string prefix = "/registry";  // --etcd-prefix
  /// Compaction happens once per interval among all replicas that share the etcd. 0: never.
  Duration compaction_interval = std::chrono::minutes(5);
  /// How many events of a resource are kept for watches that resume: those of the last `window`, at most
  /// `window_bytes`.
  Duration window = std::chrono::seconds(75);
  std::size_t window_bytes = 16u << 20;
  Duration bookmark_interval = std::chrono::minutes(1);
  /// How long a read waits for the cache to catch up.
  Duration read_timeout = std::chrono::seconds(10);
  std::chrono::seconds lease_reuse{60};  // --lease-reuse-duration-seconds; see LeasePool
  std::size_t lists_in_flight = 8;       // the number of caches that are filled at the same time
  std::int64_t list_page = 2000;
  /// nullptr: objects are stored in plain text, and values that are marked as encrypted cannot be read.
  std::shared_ptr<encryption::Encryption> encryption;
  /// Creates the observer of a resource's etcd requests; may be empty.
  std::function<std::shared_ptr<EtcdObserver>(const meta::GroupResource& resource)> observer;
};

/// What the stores of one etcd share: the client, the revision read that serves many readers at once, leases and
/// compaction. Thread-safe.
class Backend {
 public:
  virtual ~Backend() = default;
  /// Opens a store for one resource. Its cache starts to fill immediately and is destroyed with the store.
  virtual StorePtr Open(ResourceConfig config) = 0;
  /// Returns the statistics of all open stores.
  virtual std::vector<ResourceStats> Stats() const = 0;
  /// Stops the background work of the backend and of all its stores: watchers end, reads fail.
  virtual void Stop() = 0;
};

/// Background loops run on `executor`, which must outlive them.
std::shared_ptr<Backend> NewBackend(std::shared_ptr<etcd::Client> client, boost::asio::any_io_executor executor,
                                    BackendOptions options);

}  // namespace apimesh::storage
