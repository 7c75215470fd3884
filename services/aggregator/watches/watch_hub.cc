#include "services/aggregator/watches/watch_hub.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <fmt/format.h>

namespace apimesh::aggregator {
namespace {

Task<> Run(std::shared_ptr<SharedWatch> watch, std::shared_ptr<rpc::DelegateClient> client, rpc::Request request) {
  co_await client->Stream(std::move(request), *watch);
  watch->End();
}

}  // namespace

boost::asio::execution_context::id WatchHub::id;

Task<WatchHub*> WatchHub::OfThisThread() {
  const auto executor = co_await boost::asio::this_coro::executor;
  co_return &boost::asio::use_service<WatchHub>(boost::asio::query(executor, boost::asio::execution::context));
}

void WatchHub::shutdown() {
  for (const auto& [key, watch] : watches_) watch->Detach();
  watches_.clear();
}

Task<std::shared_ptr<SharedWatch>> WatchHub::Join(const Source& source, SharedWatch::Follower& follower, bool alone) {
  std::string key = source.name + " " + source.query.identity;
  if (alone) key = fmt::format("{} alone {}", key, ++alone_);
  const auto known = watches_.find(key);
  if (known != watches_.end()) {
    const std::shared_ptr<SharedWatch> watch = known->second;
    co_return watch->Join(follower) ? watch : nullptr;
  }
  const auto watch = std::make_shared<SharedWatch>(follower.place, [this, key] { watches_.erase(key); });
  watches_[key] = watch;
  watch->Join(follower);
  rpc::Request request = source.request;
  request.query = source.query.From(follower.place, true);
  request.headers.emplace_back(rpc::kWatchPhaseHeader, rpc::kFollow);
  const auto executor = co_await boost::asio::this_coro::executor;
  boost::asio::co_spawn(executor, Run(watch, source.client, std::move(request)), boost::asio::detached);
  co_return watch;
}

}  // namespace apimesh::aggregator
