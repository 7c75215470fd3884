#include "services/aggregator/watches/watch_hub.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

#include "proto/mesh/v1/delegate.pb.h"

namespace apimesh::aggregator {
namespace {

/// `moves` ends the watch when its resource gets another server.
Task<> Run(std::shared_ptr<SharedWatch> watch, std::shared_ptr<mesh::DelegateClient> client, mesh::Request request,
           std::shared_ptr<void> moves) {
  co_await client->Stream(std::move(request), *watch);
  moves.reset();
  watch->End();
}

/// Ends the watch when the routes name another server than `client`, for as long as the returned handle exists.
std::shared_ptr<void> EndWhenMoved(const std::shared_ptr<SharedWatch>& watch, const WatchHub::Source& source,
                                   boost::asio::any_io_executor executor) {
  struct Watched {
    std::weak_ptr<SharedWatch> watch;
    std::shared_ptr<RouteTable> routes;
    std::shared_ptr<mesh::DelegateClient> client;
    meta::RequestInfo info;
  };
  auto watched = std::make_shared<const Watched>(Watched{watch, source.routes, source.client, source.request.info});
  return source.routes->OnMoved([executor = std::move(executor), watched = std::move(watched)] {
    boost::asio::post(executor, [watched] {
      const std::shared_ptr<SharedWatch> live = watched->watch.lock();
      if (!live) return;
      const RoutesPtr now = watched->routes->Current();
      const Delegate* const server = now->For(watched->info);
      if (!server || server->client != watched->client) live->Interrupt();
    });
  });
}

}  // namespace

bool WatchHub::Source::FindServer() {
  const RoutesPtr now = routes->Current();
  const Delegate* const server = now->For(request.info);
  if (!server || server->kind == Delegate::Kind::kExternal) return false;
  name = server->name;
  client = server->client;
  return true;
}

boost::asio::execution_context::id WatchHub::id;

Task<WatchHub*> WatchHub::ForThisThread() {
  const auto executor = co_await boost::asio::this_coro::executor;
  co_return &boost::asio::use_service<WatchHub>(boost::asio::query(executor, boost::asio::execution::context));
}

void WatchHub::shutdown() {
  for (const auto& [key, watch] : watches_) watch->Detach();
  watches_.clear();
}

Task<std::shared_ptr<SharedWatch>> WatchHub::Join(const Source& source, SharedWatch::Follower& follower,
                                                  bool dedicated) {
  std::string key = source.name + " " + source.query.identity;
  if (dedicated) key = fmt::format("{} dedicated {}", key, ++dedicated_count_);
  const auto known = watches_.find(key);
  if (known != watches_.end()) {
    const std::shared_ptr<SharedWatch> watch = known->second;
    co_return watch->Join(follower) ? watch : nullptr;
  }
  auto closed = [this, key] { watches_.erase(key); };
  const auto watch = std::make_shared<SharedWatch>(follower.position, std::move(closed), source.clock);
  watches_[key] = watch;
  watch->Join(follower);
  mesh::Request request = source.request;
  request.query = source.query.From(follower.position, true);
  request.watch_phase = mesh::v1::WATCH_PHASE_FOLLOW;
  const auto executor = co_await boost::asio::this_coro::executor;
  auto moves = EndWhenMoved(watch, source, executor);
  boost::asio::co_spawn(executor, Run(watch, source.client, std::move(request), std::move(moves)),
                        boost::asio::detached);
  co_return watch;
}

}  // namespace apimesh::aggregator
