#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "lib/endpoint/options.h"
#include "lib/endpoint/verbs.h"
#include "lib/endpoint/watch_encoder.h"

namespace apimesh::endpoint {
namespace {

namespace asio = boost::asio;

/// Events that are sent in one piece.
constexpr std::size_t kEventsAtOnce = 256;

/// Without a wish of the client: at random between the minimum and twice that, so that not all come back at once.
std::chrono::milliseconds Timeout(const ResourceRequest& request, const ListQuery& query) {
  if (query.timeout_seconds && *query.timeout_seconds > 0) return std::chrono::seconds(*query.timeout_seconds);
  const std::chrono::milliseconds least = request.env->min_request_timeout;
  return least + std::chrono::milliseconds(request.env->sources.random() % static_cast<std::uint64_t>(least.count() + 1));
}

}  // namespace

Task<meta::Result<>> Watch(RequestPtr request, rpc::ResponseStream& stream) {
  ASSIGN_OR_CO_RETURN(ListQuery query, ParseListQuery(request->query, request->Resource(), request->ObjectNamespace(),
                                                      request->Name()));
  ASSIGN_OR_CO_RETURN(WatchEncoder encoder, WatchEncoder::New(request));
  const std::chrono::milliseconds timeout = Timeout(*request, query);
  ASSIGN_OR_CO_RETURN(std::unique_ptr<storage::Watcher> opened,
                      co_await request->served->store->Watch(request->ctx, std::move(query.watch)));
  // Shared with the timer and with the stream, which outlive this coroutine's last look at it.
  const std::shared_ptr<storage::Watcher> watcher = std::move(opened);
  const std::weak_ptr<storage::Watcher> weak = watcher;
  stream.OnCancel([weak] {
    if (const auto alive = weak.lock()) alive->Stop();
  });
  asio::steady_timer timer(co_await asio::this_coro::executor, timeout);
  timer.async_wait([weak](const boost::system::error_code& error) {
    const auto alive = weak.lock();
    if (!error && alive) alive->Stop();
  });

  rpc::Headers headers;
  headers.emplace_back("content-type", encoder.ContentType());
  bool open = co_await stream.WriteHead(200, std::move(headers));
  while (open) {
    const std::vector<storage::Event> events = co_await watcher->Next();
    if (events.empty()) break;
    std::vector<SharedBytes> pieces;
    for (const storage::Event& event : events) {
      pieces.push_back(encoder.Encode(event));
      if (event.type == storage::Event::Type::kError) watcher->Stop();
      if (!open || pieces.size() < kEventsAtOnce) continue;
      open = co_await stream.Write(std::move(pieces));
      pieces.clear();
    }
    if (open && !pieces.empty()) open = co_await stream.Write(std::move(pieces));
  }
  co_return meta::Result<>();
}

}  // namespace apimesh::endpoint
