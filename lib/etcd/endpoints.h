#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "lib/etcd/client.h"
#include "lib/h2/channel.h"

namespace apimesh::etcd {

/// One member of the cluster, as we reach it. Streams have a connection of their own, so that a large answer does not
/// hold up events.
struct Endpoint {
  std::string url;
  std::shared_ptr<h2::Channel> calls;
  std::shared_ptr<h2::Channel> streams;

  enum class Progress { kUnknown, kSafe, kUnsafe };
  std::atomic<Progress> progress{Progress::kUnknown};
  std::atomic<bool> version_asked{false};
};

/// Whether this version of etcd sends progress notifications in order with events.
bool ProgressInOrder(std::string_view version);

/// The members in the order given, one of them current. Thread-safe.
class Endpoints {
 public:
  explicit Endpoints(const ClientOptions& options);

  Endpoint& Current() { return *all_[current_.load(std::memory_order_relaxed)]; }
  /// The next member becomes current, unless someone has moved on from `failed` already.
  void MoveOnFrom(const Endpoint& failed);
  std::size_t size() const { return all_.size(); }
  const std::vector<std::unique_ptr<Endpoint>>& All() const { return all_; }

  /// The token of the user, sent with every call; empty without user and password.
  std::shared_ptr<const std::string> Token() const;
  void SetToken(std::string token);
  /// What goes with a call that should be done by `deadline`.
  h2::CallOptions Options(SteadyTime deadline) const;

 private:
  std::vector<std::unique_ptr<Endpoint>> all_;
  std::atomic<std::size_t> current_{0};
  mutable std::mutex token_mutex_;
  std::shared_ptr<const std::string> token_;  // guarded by token_mutex_
};

}  // namespace apimesh::etcd
