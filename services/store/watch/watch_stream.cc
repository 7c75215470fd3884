#include "services/store/watch/watch_stream.h"

#include <algorithm>

#include "proto/etcd/v3/rpc.pb.h"
#include "services/store/mvcc/errors.h"
#include "services/store/mvcc/wire.h"

namespace apimesh::store {
namespace {

constexpr std::int64_t kNoWatchId = -1;  // for the complete stream, or for a watch that was never created

}  // namespace

WatchStream::WatchStream(WatchHub& hub, CallPtr call) : hub_(hub), call_(std::move(call)) { hub_.AddStream(*this); }

WatchStream::~WatchStream() {
  for (const auto& [id, watcher] : watchers_) hub_.Remove(*watcher);
  hub_.RemoveStream(*this);
}

void WatchStream::OnMessage(std::string_view message) {
  etcdserverpb::WatchRequest request;
  if (!request.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return call_->Finish({Code::kInternal, "grpc: error unmarshalling request"});
  }
  if (request.has_create_request()) return Create(request.create_request());
  if (request.has_cancel_request()) return Cancel(request.cancel_request().watch_id());
  if (request.has_progress_request()) RequestProgress();
}

// As in etcd, a client that has closed its sending side still receives events.
void WatchStream::OnHalfClose() {}

void WatchStream::OnDrained() { hub_.ContinueCatchUp(); }

void WatchStream::Control(std::int64_t id, bool created, bool canceled, Revision compacted, std::string_view reason) {
  std::string response;
  wire::AppendMessage(response, 1, hub_.identity().Header(hub_.store().Durable()));
  wire::AppendInteger(response, 2, id);
  wire::AppendBool(response, 3, created);
  wire::AppendBool(response, 4, canceled);
  wire::AppendInteger(response, 5, compacted);
  wire::AppendBytes(response, 6, reason);
  call_->Send(std::move(response));
}

void WatchStream::Create(const etcdserverpb::WatchCreateRequest& request) {
  if (request.start_revision() < 0) return Control(kNoWatchId, true, true, 0, errors::Compacted().message);
  auto watcher = std::make_unique<Watcher>();
  watcher->stream = this;
  watcher->key = request.key().empty() ? std::string(1, '\0') : request.key();
  watcher->end = request.range_end();
  const bool to_the_end = watcher->end.size() == 1 && watcher->end[0] == '\0';
  if (!watcher->end.empty() && !to_the_end && watcher->key >= watcher->end) {
    return Control(kNoWatchId, true, true, 0, "mvcc: watcher range is empty");
  }
  if (request.watch_id() == 0) {
    while (watchers_.contains(next_id_)) ++next_id_;
    watcher->id = next_id_++;
  } else if (watchers_.contains(request.watch_id())) {
    return Control(kNoWatchId, true, true, 0, "mvcc: duplicate watch ID provided on the WatchStream");
  } else {
    watcher->id = request.watch_id();
  }
  watcher->start = request.start_revision();
  watcher->previous = request.prev_kv();
  watcher->fragment = request.fragment();
  watcher->progress_notify = request.progress_notify();
  watcher->quiet = true;
  for (const int filter : request.filters()) {
    if (filter == etcdserverpb::WatchCreateRequest::NOPUT) watcher->no_put = true;
    if (filter == etcdserverpb::WatchCreateRequest::NODELETE) watcher->no_delete = true;
  }
  Watcher& added = *watcher;
  watchers_.emplace(added.id, std::move(watcher));
  Control(added.id, true, false, 0, {});
  hub_.Add(added);
}

void WatchStream::Cancel(std::int64_t id) {
  const auto found = watchers_.find(id);
  if (found == watchers_.end()) return;
  hub_.Remove(*found->second);
  watchers_.erase(found);
  Control(id, false, true, 0, {});
  OnWatcherSynced();
}

void WatchStream::CancelCompacted(std::int64_t id, Revision compacted) {
  const auto found = watchers_.find(id);
  if (found == watchers_.end()) return;
  hub_.Remove(*found->second);
  watchers_.erase(found);
  Control(id, false, true, compacted, {});
  OnWatcherSynced();
}

// A progress notification states that everything up to its revision has been sent. It is delayed while watchers still
// read history, and never overtakes their events.
void WatchStream::RequestProgress() {
  progress_wanted_ = true;
  OnWatcherSynced();
}

void WatchStream::OnWatcherSynced() {
  if (!progress_wanted_) return;
  if (!std::ranges::all_of(watchers_, [](const auto& item) { return item.second->synced; })) return;
  progress_wanted_ = false;
  const Revision now = hub_.store().Durable();
  // A watch that starts in the future has made no progress yet.
  const auto begun = [now](const auto& item) { return item.second->start <= now; };
  if (!watchers_.empty() && std::ranges::all_of(watchers_, begun)) SendProgress(kNoWatchId);
}

void WatchStream::SendProgress(std::int64_t id) {
  std::string response;
  wire::AppendMessage(response, 1, hub_.identity().Header(hub_.store().Durable()));
  wire::AppendInteger(response, 2, id);
  call_->Send(std::move(response));
}

void WatchStream::NotifyQuietWatchers() {
  for (const auto& [id, watcher] : watchers_) {
    if (!watcher->progress_notify) continue;
    if (watcher->quiet && watcher->synced && watcher->start <= hub_.store().Durable()) SendProgress(id);
    watcher->quiet = true;
  }
}

}  // namespace apimesh::store
