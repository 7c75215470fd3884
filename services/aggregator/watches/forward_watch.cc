#include "services/aggregator/watches/forward_watch.h"

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>

#include "services/aggregator/watches/client_watch.h"
#include "services/aggregator/watches/watch_hub.h"

namespace apimesh::aggregator {
namespace {
/// A client that is still behind the others after so many attempts gets an upstream watch of its own; one that gets
/// nowhere even so is sent away.
constexpr int kAttemptsToJoin = 3, kAttemptsInAll = 6;
}  // namespace

Task<> ForwardWatch(Exchange& exchange, const Delegate& delegate, rpc::Request request, WatchQuery query,
                    Lifecycle& lifecycle, OpenRequests& open_requests) {
  const auto executor = co_await boost::asio::this_coro::executor;
  WatchHub* const hub = co_await WatchHub::OfThisThread();
  const auto watch = std::make_shared<ClientWatch>(exchange, executor, query.wants_bookmarks);
  // Posted: the watch must not end inside of whoever notices, which may be another thread.
  const auto stop = [watch, executor] { boost::asio::post(executor, [watch] { watch->Stop(); }); };
  exchange.reply.OnDisconnect(stop);
  auto registration = lifecycle.OnDrain(stop);
  std::shared_ptr<void> open;
  if (exchange.grounds) open = open_requests.Add(std::move(*exchange.grounds), stop, Clock::System().Steady());

  const WatchHub::Source source{delegate.name, delegate.client, std::move(request), std::move(query)};
  int attempts = 0;
  for (std::string_view phase = rpc::kCatchUp;;) {
    rpc::Request asked = source.request;
    if (watch->Place() > 0) asked.query = source.query.From(watch->Place(), source.query.wants_bookmarks);
    asked.headers.emplace_back(rpc::kWatchPhaseHeader, phase);
    co_await source.client->Stream(std::move(asked), *watch);
    if (!watch->TakeCaughtUp()) break;
    if (++attempts > kAttemptsInAll) break;
    const bool alone = attempts > kAttemptsToJoin;
    const std::shared_ptr<SharedWatch> shared = co_await hub->Join(source, watch->AsFollower(), alone);
    if (shared) {
      const std::uint64_t before = watch->Place();
      const bool goes_on = co_await watch->Follow(*shared);
      if (!goes_on) break;
      if (watch->Place() > before) attempts = 0;
    }
    phase = watch->TakeFarewell() ? rpc::kFarewell : rpc::kCatchUp;
  }
  watch->Close();
  open.reset();
  registration.reset();
  exchange.reply.OnDisconnect(nullptr);
  if (exchange.reply.HeadSent() && !watch->Aborted()) co_await exchange.reply.Finish();
}

}  // namespace apimesh::aggregator
