#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include <boost/asio/any_io_executor.hpp>

#include "lib/base/async/wakeup.h"
#include "lib/etcd/client.h"

namespace apimesh::storage {

/// Reads the newest revision of etcd once for all callers that asked before the read began. Thread-safe.
class ReadIndex : public std::enable_shared_from_this<ReadIndex> {
 public:
  ReadIndex(std::shared_ptr<etcd::Client> client, boost::asio::any_io_executor executor, std::string key,
            Duration timeout, const Clock& clock)
      : client_(std::move(client)),
        executor_(std::move(executor)),
        key_(std::move(key)),
        timeout_(timeout),
        clock_(clock) {}

  /// Returns a revision that is at least as new as every write that completed before this call.
  Task<etcd::Result<etcd::Revision>> Newest(SteadyTime deadline);

 private:
  struct Read {
    std::optional<etcd::Result<etcd::Revision>> result;  // set before the wake-ups
    std::vector<std::shared_ptr<Wakeup>> readers;
  };
  static Task<> Run(std::shared_ptr<ReadIndex> self);

  const std::shared_ptr<etcd::Client> client_;
  const boost::asio::any_io_executor executor_;
  const std::string key_;
  const Duration timeout_;
  const Clock& clock_;
  std::mutex mutex_;
  std::shared_ptr<Read> next_;  // collects readers for the next read; guarded by mutex_
  bool running_ = false;        // guarded by mutex_
};

}  // namespace apimesh::storage
