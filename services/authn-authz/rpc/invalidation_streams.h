#pragma once

// Internal: includes protobuf, so only .cc files may include this.

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <set>

#include "lib/base/latest.h"
#include "lib/h2/server_call.h"
#include "proto/mesh/v1/authz.pb.h"
#include "services/authn-authz/state/revisions.h"

namespace apimesh::authn_authz {

/// Tells every subscriber of each change of the Revisions, and once a second that we are alive. A slow subscriber gets
/// several changes as one. Thread-safe.
class InvalidationStreams : public std::enable_shared_from_this<InvalidationStreams> {
 public:
  static constexpr auto kHeartbeat = std::chrono::milliseconds(1000);
  /// `loaded`: whether answers rest on the complete state of the cluster. Thread-safe.
  static std::shared_ptr<InvalidationStreams> Start(std::shared_ptr<Revisions> revisions, std::function<bool()> loaded,
                                                    boost::asio::any_io_executor executor);

  /// The whole life of one subscriber's call.
  static Task<> Run(std::shared_ptr<InvalidationStreams> self, h2::ServerCallPtr call);

 private:
  using Feed = Latest<mesh::v1::Invalidation>;
  InvalidationStreams(std::shared_ptr<Revisions> revisions, std::function<bool()> loaded,
                      boost::asio::any_io_executor executor);
  void Tell(Feed& feed, const Revisions::Change& change) const;
  void TellAll(const Revisions::Change& change);
  void Beat();

  const std::shared_ptr<Revisions> revisions_;
  const std::function<bool()> loaded_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<void> subscription_;
  std::mutex mutex_;
  std::set<std::shared_ptr<Feed>> feeds_;  // guarded by mutex_
};

}  // namespace apimesh::authn_authz
