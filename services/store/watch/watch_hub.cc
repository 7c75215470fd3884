#include "services/store/watch/watch_hub.h"

#include <algorithm>

#include "services/store/mvcc/wire.h"
#include "services/store/watch/watch_stream.h"

namespace apimesh::store {
namespace {

// How much history one watcher reads per turn of the loop.
constexpr std::size_t kSliceChanges = 2000;
constexpr std::size_t kSliceBytes = 1024 * 1024;

}  // namespace

/// The event of one change, encoded for WatchResponse.events with and without the previous value. Each variant is
/// encoded once.
class WatchHub::Encoder {
 public:
  Encoder(const Store& store, Change change) : store_(store), change_(change) {}

  const std::string& Event(bool with_previous) {
    std::string& event = with_previous ? with_previous_ : plain_;
    if (event.empty()) event = Encode(with_previous);
    return event;
  }

 private:
  std::string Encode(bool with_previous) {
    Change kv = change_;
    if (!kv.deleted && kv.value.empty()) kv.value = store_.ValueOf(kv.id);
    std::string body;
    body.reserve(kv.key.size() + kv.value.size() + 64);
    wire::AppendBool(body, 1, kv.deleted);
    wire::AppendKeyValue(body, 2, kv);
    const bool created = !kv.deleted && kv.create == kv.id.main;
    if (with_previous && !created && kv.id.main > store_.Compacted()) {
      if (const auto previous = store_.Get(kv.key, kv.id.main - 1)) wire::AppendKeyValue(body, 3, *previous);
    }
    std::string event;
    wire::AppendMessage(event, 11, body);
    return event;
  }

  const Store& store_;
  Change change_;
  std::string plain_, with_previous_;
};

WatchHub::WatchHub(EventLoop& loop, const Store& store, const Identity& identity, std::size_t fragment_bytes)
    : loop_(loop), store_(store), identity_(identity), fragment_bytes_(fragment_bytes) {}

void WatchHub::Index(Watcher& watcher) {
  if (watcher.end.empty()) {
    const auto found = by_key_.find(watcher.key);
    if (found != by_key_.end()) {
      found->second.push_back(&watcher);
    } else {
      by_key_.emplace(watcher.key, std::vector<Watcher*>{&watcher});
    }
  } else {
    ranges_.push_back(&watcher);
  }
}

void WatchHub::Unindex(Watcher& watcher) {
  if (!watcher.end.empty()) {
    std::erase(ranges_, &watcher);
    return;
  }
  const auto found = by_key_.find(watcher.key);
  if (found == by_key_.end()) return;
  std::vector<Watcher*> rest = std::move(found->second);
  by_key_.erase(found);  // its key may point into the removed watcher
  std::erase(rest, &watcher);
  if (!rest.empty()) by_key_.emplace(rest.front()->key, std::move(rest));
}

void WatchHub::Add(Watcher& watcher) {
  ++watchers_;
  watcher.next = watcher.start > 0 ? watcher.start : store_.Durable() + 1;
  watcher.synced = watcher.next > store_.Durable();
  if (watcher.synced) {
    Index(watcher);
  } else {
    behind_.insert(&watcher);
    ContinueCatchUp();
  }
}

void WatchHub::Remove(Watcher& watcher) {
  --watchers_;
  if (watcher.synced) {
    Unindex(watcher);
  } else {
    behind_.erase(&watcher);
  }
}

void WatchHub::Collect(Watcher& watcher, const Change& change, Encoder& encoder) {
  if (change.id.main < watcher.next || !watcher.Wants(change)) return;
  watcher.events += encoder.Event(watcher.previous);
  watcher.event_ends.push_back(watcher.events.size());
}

void WatchHub::SendCollected(Watcher& watcher, Revision revision) {
  events_sent_ += watcher.event_ends.size();
  const std::string header = identity_.Header(revision);
  std::size_t start = 0;
  for (std::size_t i = 0; i < watcher.event_ends.size();) {
    std::size_t last = watcher.event_ends.size() - 1;
    if (watcher.fragment && watcher.events.size() - start >= fragment_bytes_) {
      last = i;
      while (last + 1 < watcher.event_ends.size() && watcher.event_ends[last + 1] - start < fragment_bytes_) ++last;
    }
    const bool more = last + 1 < watcher.event_ends.size();
    std::string response;
    response.reserve(header.size() + 32 + watcher.event_ends[last] - start);
    wire::AppendMessage(response, 1, header);
    wire::AppendInteger(response, 2, watcher.id);
    wire::AppendBool(response, 7, more);
    response.append(watcher.events, start, watcher.event_ends[last] - start);
    watcher.stream->Send(std::move(response));
    start = watcher.event_ends[last];
    i = last + 1;
  }
  watcher.quiet = false;
  watcher.events.clear();
  watcher.events.shrink_to_fit();
  watcher.event_ends.clear();
}

void WatchHub::Publish(Revision before, Revision now) {
  if (by_key_.empty() && ranges_.empty()) return;
  std::vector<Watcher*> touched, lagging;
  const auto deliver = [&](Watcher& watcher, const Change& change, Encoder& encoder) {
    if (watcher.stream->AboveHighWatermark()) {
      if (watcher.Wants(change) && std::ranges::find(lagging, &watcher) == lagging.end()) lagging.push_back(&watcher);
      return;
    }
    const bool first = watcher.event_ends.empty();
    Collect(watcher, change, encoder);
    if (first && !watcher.event_ends.empty()) touched.push_back(&watcher);
  };
  store_.ScanChanges(before + 1, now, [&](const Change& change) {
    Encoder encoder(store_, change);
    if (const auto found = by_key_.find(change.key); found != by_key_.end()) {
      for (Watcher* watcher : found->second) deliver(*watcher, change, encoder);
    }
    for (Watcher* watcher : ranges_) deliver(*watcher, change, encoder);
    return true;
  });
  for (Watcher* watcher : touched) SendCollected(*watcher, now);
  for (Watcher* watcher : lagging) {
    Unindex(*watcher);
    watcher->synced = false;
    watcher->next = std::max(watcher->next, before + 1);
    behind_.insert(watcher);
  }
}

void WatchHub::ContinueCatchUp() {
  if (catch_up_scheduled_ || behind_.empty()) return;
  catch_up_scheduled_ = true;
  loop_.Post([this] {
    catch_up_scheduled_ = false;
    const std::vector<Watcher*> watchers(behind_.begin(), behind_.end());
    for (Watcher* watcher : watchers) {
      if (behind_.contains(watcher) && !watcher->stream->AboveHighWatermark()) CatchUp(*watcher);
    }
    const bool any_ready =
        std::ranges::any_of(behind_, [](const Watcher* watcher) { return !watcher->stream->AboveHighWatermark(); });
    if (any_ready) ContinueCatchUp();
  });
}

void WatchHub::CatchUp(Watcher& watcher) {
  if (watcher.next < store_.Compacted()) {
    watcher.stream->CancelCompacted(watcher.id, store_.Compacted());
    return;
  }
  const Revision newest = store_.Durable();
  Revision reached = newest;
  std::size_t scanned = 0;
  Revision last = 0;
  store_.ScanChanges(watcher.next, newest, [&](const Change& change) {
    const bool full = scanned >= kSliceChanges || watcher.events.size() >= kSliceBytes;
    if (full && change.id.main != last) {
      reached = last;
      return false;
    }
    ++scanned;
    last = change.id.main;
    Encoder encoder(store_, change);
    Collect(watcher, change, encoder);
    return true;
  });
  if (!watcher.event_ends.empty()) SendCollected(watcher, reached == newest ? newest : reached);
  watcher.next = reached + 1;
  if (reached < newest) return;
  behind_.erase(&watcher);
  watcher.synced = true;
  Index(watcher);
  watcher.stream->OnWatcherSynced();
}

void WatchHub::StartProgressNotifications(std::chrono::steady_clock::duration interval) {
  loop_.After(interval, [this, interval] {
    for (WatchStream* stream : streams_) stream->NotifyQuietWatchers();
    StartProgressNotifications(interval);
  });
}

}  // namespace apimesh::store
