#pragma once

#include <map>
#include <memory>
#include <string>

#include <boost/asio/execution_context.hpp>

#include "services/aggregator/delegation/route_table.h"
#include "services/aggregator/watches/shared_watch.h"
#include "services/aggregator/watches/watch_query.h"

namespace apimesh::aggregator {

/// The shared watches of one thread, as a service of its io_context. Each thread has its own hub, so that no locks are
/// needed and no event crosses threads.
class WatchHub final : public boost::asio::execution_context::service {
 public:
  using key_type = WatchHub;
  static boost::asio::execution_context::id id;
  explicit WatchHub(boost::asio::execution_context& context) : service(context) {}

  /// Returns the hub of the thread on which the coroutine runs.
  static Task<WatchHub*> ForThisThread();

  /// The group server of a watch, and the request to it.
  struct Source {
    std::string name;
    std::shared_ptr<mesh::DelegateClient> client;
    mesh::Request request;  // the request of the client that opens the watch
    WatchQuery query;
    const Clock& clock;
    std::shared_ptr<RouteTable> routes;

    /// Sets `name` and `client` to the server that the routes name now. Returns false if there is none whose watches
    /// can be shared.
    bool FindServer();
  };
  /// Adds the follower to the watch with this identity or, if there is none, to a new one that starts at the follower's
  /// position. A watch ends when its resource gets another server. `dedicated`: always opens a new watch, which no
  /// other client joins. Returns nullptr if the existing watch no longer has the events after the follower's position.
  Task<std::shared_ptr<SharedWatch>> Join(const Source& source, SharedWatch::Follower& follower, bool dedicated);

 private:
  void shutdown() override;

  std::uint64_t dedicated_count_ = 0;
  std::map<std::string, std::shared_ptr<SharedWatch>> watches_;
};

}  // namespace apimesh::aggregator
