#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "lib/base/clock.h"
#include "lib/base/wakeup.h"
#include "lib/endpoint/encode.h"
#include "lib/endpoint/options.h"
#include "lib/endpoint/verbs.h"
#include "lib/endpoint/watch_encoder.h"

namespace apimesh::endpoint {
namespace {

namespace asio = boost::asio;
using storage::Event;

/// Events that are sent in one piece.
constexpr std::size_t kEventsAtOnce = 256;
/// A wish beyond this would overflow clocks.
constexpr std::chrono::hours kLongest{24 * 365};

/// Without a wish of the client: at random between the minimum and twice that, so that not all come back at once.
std::chrono::milliseconds Timeout(const ResourceRequest& request, const ListQuery& query) {
  const std::int64_t wish = query.timeout_seconds.value_or(0);
  if (wish < 0) return std::chrono::milliseconds(1);  // it is over already
  if (wish > 0) return wish < std::chrono::seconds(kLongest).count() ? std::chrono::seconds(wish) : std::chrono::seconds(kLongest);
  const std::chrono::milliseconds least = request.env->min_request_timeout;
  return least + std::chrono::milliseconds(request.env->sources.random() % static_cast<std::uint64_t>(least.count() + 1));
}

/// Events on their way out: how they are cut into messages depends on what the watch is for.
class Output {
 public:
  Output(WatchEncoder encoder, rpc::ResponseStream& stream) : encoder_(std::move(encoder)), stream_(stream) {}
  virtual ~Output() = default;

  std::string ContentType() const { return encoder_.ContentType(); }
  /// False: no more is wanted.
  virtual Task<bool> Send(std::vector<Event> events) = 0;

 protected:
  WatchEncoder encoder_;
  rpc::ResponseStream& stream_;
};

/// A watch of its own, from beginning to end.
class Alone final : public Output {
 public:
  using Output::Output;

  Task<bool> Send(std::vector<Event> events) override {
    std::vector<SharedBytes> pieces;
    bool open = true;
    for (const Event& event : events) {
      pieces.push_back(encoder_.Encode(event));
      if (pieces.size() < kEventsAtOnce) continue;
      open = co_await stream_.Write(std::move(pieces));
      if (!open) co_return false;
      pieces.clear();
    }
    if (!pieces.empty()) open = co_await stream_.Write(std::move(pieces));
    co_return open && events.back().type != Event::Type::kError;
  }
};

/// Up to the moment when nothing is left to send, which the store tells by a bookmark.
class UntilCaughtUp final : public Output {
 public:
  enum class End { kSilent, kInitialEventsEnd, kBookmark };
  UntilCaughtUp(WatchEncoder encoder, rpc::ResponseStream& stream, End end) : Output(std::move(encoder), stream), end_(end) {}

  Task<bool> Send(std::vector<Event> events) override {
    std::vector<SharedBytes> pieces;
    rpc::WatchPlace place;
    bool more = true;
    for (Event& event : events) {
      const bool caught_up = event.initial_events_end;
      if (caught_up) {
        place.revision = event.revision;
        more = false;
        event.initial_events_end = end_ == End::kInitialEventsEnd;
      }
      if (!caught_up || end_ != End::kSilent) pieces.push_back(encoder_.Encode(event));
      if (event.type == Event::Type::kError) more = false;
      if (!more) break;
    }
    Task<bool> write = place.revision > 0 ? stream_.WriteEvents(std::move(pieces), place) : stream_.Write(std::move(pieces));
    const bool written = co_await std::move(write);
    co_return written && more;
  }

 private:
  const End end_;
};

/// Every revision with its place, so that others can join or leave after any of them.
class Following final : public Output {
 public:
  using Output::Output;

  Task<bool> Send(std::vector<Event> events) override {
    for (std::size_t i = 0; i < events.size();) {
      const Event& first = events[i];
      std::vector<SharedBytes> pieces(1, encoder_.Encode(first));
      if (first.type == Event::Type::kError) {  // their last words, for all of them
        co_await stream_.Write(std::move(pieces));
        co_return false;
      }
      const rpc::WatchPlace place{first.revision, first.type == Event::Type::kBookmark};
      // One transaction can change many objects (the end of a lease deletes all that hung on it).
      for (++i; i < events.size() && !place.bookmark && events[i].revision == first.revision; ++i) {
        pieces.push_back(encoder_.Encode(events[i]));
      }
      const bool open = co_await stream_.WriteEvents(std::move(pieces), place);
      if (!open) co_return false;
    }
    co_return true;
  }
};

std::unique_ptr<Output> NewOutput(std::string_view phase, const storage::WatchOptions& options, WatchEncoder encoder,
                                  rpc::ResponseStream& stream) {
  if (phase == rpc::kFollow) return std::make_unique<Following>(std::move(encoder), stream);
  if (phase == rpc::kFarewell) {
    return std::make_unique<UntilCaughtUp>(std::move(encoder), stream, UntilCaughtUp::End::kBookmark);
  }
  if (phase == rpc::kCatchUp) {
    const bool told = options.allow_bookmarks && options.send_initial_events.value_or(false);
    return std::make_unique<UntilCaughtUp>(std::move(encoder), stream,
                                           told ? UntilCaughtUp::End::kInitialEventsEnd : UntilCaughtUp::End::kSilent);
  }
  return std::make_unique<Alone>(std::move(encoder), stream);
}

}  // namespace

Task<meta::Result<>> Watch(RequestPtr request, rpc::ResponseStream& stream) {
  ASSIGN_OR_CO_RETURN(ListQuery query, ParseListQuery(request->query, request->Resource(), request->ObjectNamespace(),
                                                      request->Name()));
  ASSIGN_OR_CO_RETURN(WatchEncoder encoder, WatchEncoder::New(request));
  const std::string_view phase = request->http.Header(rpc::kWatchPhaseHeader);
  const std::unique_ptr<Output> output = NewOutput(phase, query.watch, std::move(encoder), stream);
  query.watch.tell_initial_end = phase == rpc::kCatchUp || phase == rpc::kFarewell;
  const std::chrono::milliseconds timeout = Timeout(*request, query);
  ASSIGN_OR_CO_RETURN(std::unique_ptr<storage::Watcher> opened,
                      co_await request->served->store->Watch(request->ctx, std::move(query.watch)));
  // Shared with the timer and with the stream, which outlive this coroutine's last look at it.
  const std::shared_ptr<storage::Watcher> watcher = std::move(opened);
  const std::weak_ptr<storage::Watcher> weak = watcher;
  stream.OnCancel([weak] {
    if (const auto alive = weak.lock()) alive->Stop();
  });
  asio::steady_timer timer(co_await asio::this_coro::executor);
  if (phase != rpc::kFollow) {  // what many follow lasts as long as the last of them
    timer.expires_after(timeout);
    timer.async_wait([weak](const boost::system::error_code& error) {
      const auto alive = weak.lock();
      if (!error && alive) alive->Stop();
    });
  }

  rpc::Headers headers;
  headers.emplace_back("content-type", output->ContentType());
  AddWarnings(request->ctx, headers);
  if (phase == rpc::kCatchUp) headers.emplace_back(rpc::kWatchTimeoutHeader, std::to_string(timeout.count()));
  bool open = co_await stream.WriteHead(200, std::move(headers));
  while (open) {
    std::vector<Event> events = co_await watcher->Next();
    if (events.empty()) break;
    open = co_await output->Send(std::move(events));
    if (open && phase == rpc::kGrouped) co_await SleepUntil(Clock::System().Steady() + rpc::kGroupingTime);
  }
  watcher->Stop();
  co_return meta::Result<>();
}

}  // namespace apimesh::endpoint
