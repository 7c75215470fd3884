#include "services/aggregator/watches/forward_watch.h"

#include <boost/asio/this_coro.hpp>

#include "proto/mesh/v1/delegate.pb.h"
#include "services/aggregator/auth/revocable_end.h"
#include "services/aggregator/watches/client_watch.h"
#include "services/aggregator/watches/watch_hub.h"

namespace apimesh::aggregator {
namespace {
/// A client that could not join the shared watch after this many attempts gets its own upstream watch. If it makes no
/// progress with that either, its watch is closed.
constexpr int kAttemptsToJoin = 3, kMaxAttempts = 6;
}  // namespace

Task<> ForwardWatch(Exchange& exchange, std::shared_ptr<RouteTable> routes, mesh::Request request, WatchQuery query,
                    Lifecycle& lifecycle, OpenRequests& open_requests) {
  const auto executor = co_await boost::asio::this_coro::executor;
  WatchHub* const hub = co_await WatchHub::ForThisThread();
  const auto watch = std::make_shared<ClientWatch>(exchange, executor, query.wants_bookmarks);
  const RevocableEnd end(executor, [watch] { watch->Stop(); }, [&exchange] { exchange.reply.Abort(); });
  const std::function<void()> stop = end.Callback();
  exchange.reply.OnDisconnect(stop);
  auto registration = lifecycle.OnDrain(stop);
  std::shared_ptr<void> open;
  if (exchange.grounds) open = open_requests.Add(std::move(*exchange.grounds), stop, exchange.clock.Steady());

  WatchHub::Source source{"", nullptr, std::move(request), std::move(query), exchange.clock, std::move(routes)};
  int attempts = 0;
  bool awaits_initial_events = source.query.wants_initial_events;
  for (mesh::v1::WatchPhase phase = mesh::v1::WATCH_PHASE_CATCH_UP;;) {
    const bool found = source.FindServer();
    if (!found) break;
    const auto client = source.client;
    mesh::Request asked = source.request;
    if (watch->Position() > 0) asked.query = source.query.From(watch->Position(), source.query.wants_bookmarks);
    asked.watch_phase = phase;
    co_await source.client->Stream(std::move(asked), *watch);
    if (!watch->TakeCaughtUp()) break;
    if (std::exchange(awaits_initial_events, false) && exchange.metrics.series)
      exchange.metrics.series->WatchListDone(exchange.clock.Steady() - exchange.started);
    if (exchange.slot) exchange.slot->Release();  // the watch is initialised; from now on it only waits for events
    if (++attempts > kMaxAttempts) break;
    const bool dedicated = attempts > kAttemptsToJoin;
    const std::shared_ptr<SharedWatch> shared = co_await hub->Join(source, watch->AsFollower(), dedicated);
    if (shared) {
      const std::uint64_t before = watch->Position();
      const bool continues = co_await watch->Follow(*shared);
      if (!continues) break;
      if (watch->Position() > before) attempts = 0;
    }
    if (source.FindServer() && source.client != client) attempts = 0;  // the watch moves to another server
    phase = watch->TakeFinalBookmarkDue() ? mesh::v1::WATCH_PHASE_FINAL_BOOKMARK : mesh::v1::WATCH_PHASE_CATCH_UP;
  }
  watch->Close();
  open.reset();
  registration.reset();
  exchange.reply.OnDisconnect(nullptr);
  if (exchange.reply.HeadSent() && !watch->Aborted() && !watch->Refused()) co_await exchange.reply.Finish();
}

}  // namespace apimesh::aggregator
