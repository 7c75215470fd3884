#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/etcd/client.h"
#include "lib/grpc/channel.h"

namespace apimesh::etcd {

/// One member of the cluster. Streams use a separate connection, so that a large response does not delay events.
struct Endpoint {
  std::string url;
  std::shared_ptr<grpc::Channel> calls;
  std::shared_ptr<grpc::Channel> streams;

  enum class Progress { kUnknown, kSafe, kUnsafe };
  std::atomic<Progress> progress{Progress::kUnknown};
  std::atomic<bool> version_asked{false};
};

/// Returns whether this version of etcd sends progress notifications in order with events.
bool ProgressInOrder(std::string_view version);

/// The members in the configured order, one of which is current. Thread-safe.
class Endpoints {
 public:
  explicit Endpoints(const ClientOptions& options);

  Endpoint& Current() { return *all_[current_.load(std::memory_order_relaxed)]; }
  /// Makes the next member current, unless another caller has already moved on from `failed`.
  void FailOverFrom(const Endpoint& failed);
  std::size_t size() const { return all_.size(); }
  const std::vector<std::unique_ptr<Endpoint>>& All() const { return all_; }

  /// Returns the user's token, which is sent with every call; empty if no user and password are configured.
  std::shared_ptr<const std::string> Token() const;
  void SetToken(std::string token);
  /// Returns the options of a call with this deadline.
  grpc::CallOptions Options(SteadyTime deadline) const;
  const Clock& GetClock() const { return clock_; }

 private:
  const Clock& clock_;
  std::vector<std::unique_ptr<Endpoint>> all_;
  std::atomic<std::size_t> current_{0};
  mutable std::mutex token_mutex_;
  std::shared_ptr<const std::string> token_;  // guarded by token_mutex_
};

}  // namespace apimesh::etcd
