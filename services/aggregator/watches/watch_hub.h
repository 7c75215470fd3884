#pragma once

#include <boost/asio/execution_context.hpp>

#include <map>
#include <memory>
#include <string>

#include "services/aggregator/watches/shared_watch.h"
#include "services/aggregator/watches/watch_query.h"

namespace apimesh::aggregator {

/// The shared watches of one thread: a service of its io_context. Each thread has its own, so that nothing is locked and
/// no event changes threads.
class WatchHub final : public boost::asio::execution_context::service {
 public:
  using key_type = WatchHub;
  static boost::asio::execution_context::id id;
  explicit WatchHub(boost::asio::execution_context& context) : service(context) {}

  /// The hub of the coroutine's thread.
  static Task<WatchHub*> OfThisThread();

  /// Who serves a watch, and what is asked of it.
  struct Source {
    std::string name;
    std::shared_ptr<rpc::DelegateClient> client;
    rpc::Request request;  // of the first follower
    WatchQuery query;
  };
  /// A watch that the follower has joined: the one that others of this identity follow or, if there is none, a new one
  /// from the follower's place on. `alone`: a new one in any case, which nobody else joins.
  /// nullptr: the others are too far ahead.
  Task<std::shared_ptr<SharedWatch>> Join(const Source& source, SharedWatch::Follower& follower, bool alone);

 private:
  void shutdown() override;

  std::uint64_t alone_ = 0;
  std::map<std::string, std::shared_ptr<SharedWatch>> watches_;
};

}  // namespace apimesh::aggregator
