#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include "lib/base/async/wakeup.h"
#include "lib/base/clock.h"
#include "lib/endpoint/input/options.h"
#include "lib/endpoint/output/encode.h"
#include "lib/endpoint/output/watch_encoder.h"
#include "lib/endpoint/verbs/verbs.h"
#include "proto/mesh/v1/delegate.pb.h"

namespace apimesh::endpoint {
namespace {

namespace asio = boost::asio;
using mesh::v1::WatchPhase;
using storage::Event;

/// The maximum number of events in one message.
constexpr std::size_t kEventsAtOnce = 256;
/// A longer timeout would overflow the clocks.
constexpr std::chrono::hours kLongest{24 * 365};

/// Without timeoutSeconds, the timeout is random between the minimum and twice the minimum, so that not all clients
/// reconnect at the same time.
std::chrono::milliseconds Timeout(const ResourceRequest& request, const ListQuery& query) {
  const std::int64_t requested = query.timeout_seconds.value_or(0);
  if (requested < 0) return std::chrono::milliseconds(1);  // expires immediately
  if (requested > 0)
    return requested < std::chrono::seconds(kLongest).count() ? std::chrono::seconds(requested)
                                                              : std::chrono::seconds(kLongest);
  const std::chrono::milliseconds least = request.env->min_request_timeout;
  return least +
         std::chrono::milliseconds(request.env->sources.random() % static_cast<std::uint64_t>(least.count() + 1));
}

/// Sends the events of a watch. Subclasses divide them into messages according to the phase of the watch.
class Output {
 public:
  Output(WatchEncoder encoder, mesh::ResponseStream& stream) : encoder_(std::move(encoder)), stream_(stream) {}
  virtual ~Output() = default;

  std::string ContentType() const { return encoder_.ContentType(); }
  /// Returns false if no more events should be sent.
  virtual Task<bool> Send(std::vector<Event> events) = 0;

 protected:
  WatchEncoder encoder_;
  mesh::ResponseStream& stream_;
};

/// Sends a watch that is not shared, from beginning to end.
class Unshared final : public Output {
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
    co_return open&& events.back().type != Event::Type::kError;
  }
};

/// Sends events until the watch has caught up, which the store signals with a bookmark.
class UntilCaughtUp final : public Output {
 public:
  enum class End { kSilent, kInitialEventsEnd, kBookmark };
  UntilCaughtUp(WatchEncoder encoder, mesh::ResponseStream& stream, End end)
      : Output(std::move(encoder), stream), end_(end) {}

  Task<bool> Send(std::vector<Event> events) override {
    std::vector<SharedBytes> pieces;
    mesh::ResumePosition position;
    bool more = true;
    for (Event& event : events) {
      const bool caught_up = event.initial_events_end;
      if (caught_up) {
        position.revision = event.revision;
        more = false;
        event.initial_events_end = end_ == End::kInitialEventsEnd;
      }
      if (!caught_up || end_ != End::kSilent) pieces.push_back(encoder_.Encode(event));
      if (event.type == Event::Type::kError) more = false;
      if (!more) break;
    }
    Task<bool> write =
        position.revision > 0 ? stream_.WriteEvents(std::move(pieces), position) : stream_.Write(std::move(pieces));
    const bool written = co_await std::move(write);
    co_return written&& more;
  }

 private:
  const End end_;
};

/// Sends each revision with its resume position, so that other watchers can join or leave after any revision.
class Following final : public Output {
 public:
  using Output::Output;

  Task<bool> Send(std::vector<Event> events) override {
    for (std::size_t i = 0; i < events.size();) {
      const Event& first = events[i];
      std::vector<SharedBytes> pieces(1, encoder_.Encode(first));
      if (first.type == Event::Type::kError) {  // the error ends the watch for all watchers
        co_await stream_.Write(std::move(pieces));
        co_return false;
      }
      const mesh::ResumePosition position{first.revision, first.type == Event::Type::kBookmark};
      // One transaction can change many objects: an expired lease deletes all of its keys.
      for (++i; i < events.size() && !position.bookmark && events[i].revision == first.revision; ++i) {
        pieces.push_back(encoder_.Encode(events[i]));
      }
      const bool open = co_await stream_.WriteEvents(std::move(pieces), position);
      if (!open) co_return false;
    }
    co_return true;
  }
};

std::unique_ptr<Output> NewOutput(WatchPhase phase, const storage::WatchOptions& options, WatchEncoder encoder,
                                  mesh::ResponseStream& stream) {
  if (phase == mesh::v1::WATCH_PHASE_FOLLOW) return std::make_unique<Following>(std::move(encoder), stream);
  if (phase == mesh::v1::WATCH_PHASE_FINAL_BOOKMARK) {
    return std::make_unique<UntilCaughtUp>(std::move(encoder), stream, UntilCaughtUp::End::kBookmark);
  }
  if (phase == mesh::v1::WATCH_PHASE_CATCH_UP) {
    const bool marked = options.allow_bookmarks && options.send_initial_events.value_or(false);
    return std::make_unique<UntilCaughtUp>(
        std::move(encoder), stream, marked ? UntilCaughtUp::End::kInitialEventsEnd : UntilCaughtUp::End::kSilent);
  }
  return std::make_unique<Unshared>(std::move(encoder), stream);
}

}  // namespace

Task<meta::Result<>> Watch(RequestPtr request, mesh::ResponseStream& stream) {
  ASSIGN_OR_CO_RETURN(ListQuery query, ParseListQuery(request->query, request->Resource(), request->ObjectNamespace(),
                                                      request->Name(), request->env->watch_list));
  ASSIGN_OR_CO_RETURN(WatchEncoder encoder, WatchEncoder::New(request));
  const WatchPhase phase = request->http.watch_phase;
  const std::unique_ptr<Output> output = NewOutput(phase, query.watch, std::move(encoder), stream);
  query.watch.mark_initial_events_end =
      phase == mesh::v1::WATCH_PHASE_CATCH_UP || phase == mesh::v1::WATCH_PHASE_FINAL_BOOKMARK;
  const std::chrono::milliseconds timeout = Timeout(*request, query);
  ASSIGN_OR_CO_RETURN(std::unique_ptr<storage::Watcher> opened,
                      co_await request->served->store->Watch(request->ctx, std::move(query.watch)));
  // The timer and the stream refer to the watcher weakly, because they may outlive this coroutine.
  const std::shared_ptr<storage::Watcher> watcher = std::move(opened);
  const std::weak_ptr<storage::Watcher> weak = watcher;
  stream.OnCancel([weak] {
    if (const auto alive = weak.lock()) alive->Stop();
  });
  asio::steady_timer timer(co_await asio::this_coro::executor);
  if (phase != mesh::v1::WATCH_PHASE_FOLLOW) {  // a shared watch lasts as long as its last watcher
    timer.expires_after(timeout);
    timer.async_wait([weak](const boost::system::error_code& error) {
      const auto alive = weak.lock();
      if (!error && alive) alive->Stop();
    });
  }

  mesh::Headers headers;
  headers.emplace_back("content-type", output->ContentType());
  AddAdmissionHeaders(request->ctx, headers);
  if (phase == mesh::v1::WATCH_PHASE_CATCH_UP)
    headers.emplace_back(mesh::kWatchTimeoutHeader, std::to_string(timeout.count()));
  bool open = co_await stream.WriteHead(200, std::move(headers));
  while (open) {
    std::vector<Event> events = co_await watcher->Next();
    if (events.empty()) break;
    open = co_await output->Send(std::move(events));
    if (open && phase == mesh::v1::WATCH_PHASE_GROUPED) co_await SleepFor(mesh::kGroupingTime);
  }
  watcher->Stop();
  co_return meta::Result<>();
}

}  // namespace apimesh::endpoint
