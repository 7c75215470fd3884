#pragma once

// Internal: includes protobuf, so only .cc files may include this.

#include <set>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/base/async/latest.h"
#include "lib/grpc/server_call.h"
#include "proto/mesh/v1/authz.pb.h"
#include "services/authn-authz/state/revisions.h"

namespace apimesh::authn_authz {

/// Sends each change of the Revisions to every subscriber, and a heartbeat once per second. Several changes are
/// combined for a slow subscriber. Thread-safe.
class InvalidationStreams : public std::enable_shared_from_this<InvalidationStreams> {
 public:
  static constexpr auto kHeartbeat = std::chrono::milliseconds(1000);
  /// `loaded` returns whether answers are based on the complete state of the cluster. It must be thread-safe.
  static std::shared_ptr<InvalidationStreams> Start(std::shared_ptr<Revisions> revisions, std::function<bool()> loaded,
                                                    boost::asio::any_io_executor executor);

  /// Serves one subscriber until its call ends.
  static Task<> Run(std::shared_ptr<InvalidationStreams> self, grpc::ServerCallPtr call);

 private:
  using Feed = Latest<mesh::v1::Invalidation>;
  InvalidationStreams(std::shared_ptr<Revisions> revisions, std::function<bool()> loaded,
                      boost::asio::any_io_executor executor);
  void Send(Feed& feed, const Revisions::Change& change) const;
  void Broadcast(const Revisions::Change& change);
  void Beat();

  const std::shared_ptr<Revisions> revisions_;
  const std::function<bool()> loaded_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<void> subscription_;
  std::mutex mutex_;
  std::set<std::shared_ptr<Feed>> feeds_;  // guarded by mutex_
};

}  // namespace apimesh::authn_authz
