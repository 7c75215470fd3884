#include "lib/etcd/watch_mux.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <fmt/format.h>

#include "lib/base/log.h"
#include "lib/etcd/convert.h"
#include "lib/etcd/error.h"
#include "lib/grpc/typed_call.h"

namespace apimesh::etcd {
namespace {

constexpr std::size_t kPauseBytes = 64u << 20;
constexpr std::size_t kResumeBytes = 16u << 20;
constexpr auto kFirstRetry = std::chrono::milliseconds(20);
constexpr auto kLastRetry = std::chrono::milliseconds(1000);

std::size_t SizeOf(const WatchBatch& batch) {
  std::size_t bytes = sizeof(WatchBatch);
  for (const WatchEvent& event : batch.events) {
    bytes += sizeof(WatchEvent) + event.kv.key.size() + event.kv.value.size() + event.previous.value.size();
  }
  return bytes;
}

}  // namespace

// Why no event is lost, repeated or reordered:
//
// Position. `next_revision` is the first revision that is not in the subscription's queue. Only Push() advances it, and
// only by complete revisions: OnEvents() collects the fragments of a response until etcd marks the last one, and a
// response without fragments never splits a revision. The queue is first in, first out, so Next() returns the batches
// in this order, and an error only after all of them.
//
// Reconnects. When the stream is lost, fragments of an incomplete response are discarded, and every subscription is
// created again at `next_revision` or one before it. Events below `next_revision` are dropped. Together this delivers
// each revision exactly once. A watch "from now on" (next_revision 0) has no position until the server confirms its
// creation with a revision; if the stream is lost before that, nothing has been promised to the reader, and "now" is
// later.
//
// Late responses. Each stream has a generation, and each creation has a new id, also on the same stream. A response of
// an older stream, or for an id that was cancelled since, finds no subscription and is ignored. The response to a
// rejected creation has no id; etcd answers creations in order, so `unconfirmed_` assigns it. Cancelled ids stay in
// that list to keep the order.
//
// Slow readers. A subscription whose queue is too long is cancelled at the server between two batches and created again
// at `next_revision` once the queue is short, as after a reconnect.
//
// Progress. A notification with revision R states that all events up to R were sent. It is used only if this version of
// etcd sends it in order with events, and never for a subscription that is not confirmed yet or waits for more
// fragments.
//
// What cannot be resumed is reported. If etcd has compacted `next_revision`, the watch fails with kCompacted (if only
// the revision before it is compacted, the watch is created again at exactly `next_revision`). If etcd was restored to
// a revision before `next_revision`, which Verify() confirms by a linearizable read, it fails with kFutureRevision. The
// reader then lists again.
class WatchMux::MuxedWatch final : public Watch {
 public:
  MuxedWatch(std::shared_ptr<WatchMux> mux, SubscriptionPtr subscription)
      : mux_(std::move(mux)), subscription_(std::move(subscription)) {}
  ~MuxedWatch() override { mux_->Remove(subscription_); }
  Task<Result<WatchBatch>> Next() override { return mux_->Next(subscription_); }
  void RequestProgress() override { mux_->RequestProgress(); }

 private:
  const std::shared_ptr<WatchMux> mux_;
  const SubscriptionPtr subscription_;
};

std::unique_ptr<Watch> WatchMux::Open(WatchOptions options) {
  auto subscription = std::make_shared<Subscription>();
  subscription->next_revision = options.start_revision;
  subscription->options = std::move(options);
  const std::lock_guard lock(mutex_);
  if (stopped_) {
    subscription->error = Error{Error::Code::kCancelled, "the client is closed"};
  } else {
    all_.push_back(subscription);
    if (stream_) {
      Create(subscription);
    } else if (!retry_) {
      Connect();
    }
  }
  return std::make_unique<MuxedWatch>(shared_from_this(), subscription);
}

void WatchMux::Connect() {
  ++generation_;
  active_.clear();
  unconfirmed_.clear();
  const std::weak_ptr<WatchMux> weak = weak_from_this();
  const std::uint64_t generation = generation_;
  WatchStream::Callbacks callbacks;
  callbacks.response = [weak, generation](etcdserverpb::WatchResponse& response) {
    if (const auto self = weak.lock()) self->OnResponse(generation, response);
  };
  // The endpoints must outlive the call.
  callbacks.done = [weak, generation, endpoints = endpoints_](const grpc::Status& status) {
    if (const auto self = weak.lock()) self->OnStreamDone(generation, status);
  };
  stream_ = WatchStream::Start(*endpoints_, endpoints_->Current(), executor_, std::move(callbacks));
  for (const SubscriptionPtr& subscription : all_) {
    subscription->created = false;
    subscription->fragments.clear();
    if (!subscription->paused) Create(subscription);
  }
}

void WatchMux::Create(const SubscriptionPtr& subscription) {
  subscription->id = ++last_id_;
  subscription->created = false;
  active_[subscription->id] = subscription;
  unconfirmed_.push_back(subscription->id);
  etcdserverpb::WatchRequest request;
  etcdserverpb::WatchCreateRequest& create = *request.mutable_create_request();
  create.set_key(subscription->options.key);
  create.set_range_end(subscription->options.range_end);
  // The watch starts one revision earlier than needed, and OnEvents() drops what it has already seen. etcd answers no
  // progress request on a stream while one of its watches starts after the newest revision, which is exactly where a
  // watch after a list starts.
  const bool early = subscription->next_revision > 1 && !subscription->exact;
  create.set_start_revision(early ? subscription->next_revision - 1 : subscription->next_revision);
  create.set_progress_notify(subscription->options.progress_notify);
  create.set_prev_kv(subscription->options.previous);
  create.set_fragment(true);
  create.set_watch_id(subscription->id);
  stream_->Send(request);
}

void WatchMux::CancelAtServer(const SubscriptionPtr& subscription) {
  if (active_.erase(subscription->id) == 0 || !stream_) return;
  etcdserverpb::WatchRequest request;
  request.mutable_cancel_request()->set_watch_id(subscription->id);
  stream_->Send(request);
}

void WatchMux::OnResponse(std::uint64_t generation, etcdserverpb::WatchResponse& response) {
  const std::lock_guard lock(mutex_);
  if (generation != generation_ || !stream_) return;
  failures_ = 0;
  std::int64_t id = response.watch_id();
  if (response.created()) {
    if (unconfirmed_.empty()) return;
    id = unconfirmed_.front();
    unconfirmed_.pop_front();
  } else if (id < 0 && !response.canceled() && response.events_size() == 0) {
    const std::map<std::int64_t, SubscriptionPtr> everyone = active_;
    for (const auto& [_, subscription] : everyone) OnProgress(subscription, response.header().revision());
    return;
  }
  const auto found = active_.find(id);
  if (found == active_.end()) return;  // cancelled in the meantime
  const SubscriptionPtr subscription = found->second;
  if (response.canceled()) {
    OnCanceled(subscription, response);
  } else if (response.created()) {
    OnCreated(subscription, response.header().revision());
  } else if (response.events_size() > 0) {
    OnEvents(subscription, response);
  } else {
    OnProgress(subscription, response.header().revision());
  }
}

void WatchMux::OnCreated(const SubscriptionPtr& subscription, Revision store_revision) {
  subscription->created = true;
  if (subscription->next_revision == 0) {
    subscription->next_revision = store_revision + 1;
  } else if (store_revision + 1 < subscription->next_revision) {
    VerifyRevision(subscription);  // the member lags behind, or the store was restored to an older state
  }
}

void WatchMux::OnCanceled(const SubscriptionPtr& subscription, const etcdserverpb::WatchResponse& response) {
  active_.erase(subscription->id);
  const std::string& reason = response.cancel_reason();
  if (response.compact_revision() == subscription->next_revision && !subscription->exact) {
    subscription->exact = true;
    return Create(subscription);
  }
  if (response.compact_revision() > 0) {
    return Fail(subscription,
                {Error::Code::kCompacted, reason.empty() ? "required revision has been compacted" : reason,
                 response.compact_revision()});
  }
  const grpc::Status status{grpc::Code::kUnavailable, reason};
  const Error error = ErrorFrom(status, CallKind::kRead);
  // An expired token is not a refusal: the next call renews it, and the next stream uses the new token.
  const bool denied = error.code == Error::Code::kPermissionDenied && !TokenExpired(status);
  if (denied || error.code == Error::Code::kCompacted) {
    return Fail(subscription, error);
  }
  log::Debug("etcd cancelled a watch of {} ({}); it is opened again", subscription->options.key, reason);
  stream_->Cancel();  // all watches are opened again on a new stream, after the usual back-off
}

void WatchMux::OnEvents(const SubscriptionPtr& subscription, etcdserverpb::WatchResponse& response) {
  for (mvccpb::Event& event : *response.mutable_events()) {
    // A resumed watch starts one revision early, and etcd may repeat events.
    if (event.kv().mod_revision() < subscription->next_revision) continue;
    subscription->fragments.push_back(ToEvent(event));
  }
  if (response.fragment()) return;
  WatchBatch batch;
  batch.events.swap(subscription->fragments);
  if (batch.events.empty()) return;
  batch.revision = batch.events.back().kv.mod_revision;
  Push(subscription, std::move(batch));
}

void WatchMux::OnProgress(const SubscriptionPtr& subscription, Revision revision) {
  if (stream_->Member().progress != Endpoint::Progress::kSafe) return;
  if (!subscription->created || !subscription->fragments.empty() || revision + 1 < subscription->next_revision) return;
  WatchBatch batch;
  batch.revision = revision;
  batch.progress = true;
  Push(subscription, std::move(batch));
}

void WatchMux::Push(const SubscriptionPtr& subscription, WatchBatch batch) {
  subscription->next_revision = batch.revision + 1;
  subscription->exact = false;
  auto& queue = subscription->queue;
  if (batch.progress && !queue.empty() && queue.back().progress) {
    queue.back().revision = batch.revision;
  } else {
    subscription->queued_bytes += SizeOf(batch);
    queue.push_back(std::move(batch));
  }
  if (subscription->queued_bytes > kPauseBytes && !subscription->paused) {
    subscription->paused = true;
    CancelAtServer(subscription);
  }
  if (subscription->reader) std::exchange(subscription->reader, nullptr)->Wake();
}

void WatchMux::Fail(const SubscriptionPtr& subscription, Error error) {
  std::erase(all_, subscription);
  subscription->error = std::move(error);
  if (subscription->reader) std::exchange(subscription->reader, nullptr)->Wake();
}

void WatchMux::OnStreamDone(std::uint64_t generation, const grpc::Status& status) {
  const std::lock_guard lock(mutex_);
  if (generation != generation_ || stopped_) return;
  const Endpoint& member = stream_->Member();
  stream_ = nullptr;
  active_.clear();
  if (all_.empty()) return;
  log::Debug("watch stream to {} ended: {}", member.url, status.message);
  endpoints_->FailOverFrom(member);
  ConnectLater();
}

void WatchMux::ConnectLater() {
  const auto wait = std::min<std::chrono::milliseconds>(kFirstRetry * (1 << std::min(failures_, 10)), kLastRetry);
  ++failures_;
  retry_ = std::make_shared<boost::asio::steady_timer>(executor_, wait);
  const std::weak_ptr<WatchMux> weak = weak_from_this();
  retry_->async_wait([weak](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self) return;
    const std::lock_guard lock(self->mutex_);
    self->retry_ = nullptr;
    if (!self->stopped_ && !self->stream_ && !self->all_.empty()) self->Connect();
  });
}

void WatchMux::VerifyRevision(const SubscriptionPtr& subscription) {
  auto begin = [self = shared_from_this(), subscription] {
    boost::asio::co_spawn(self->executor_, Verify(self, subscription), boost::asio::detached);
  };
  boost::asio::post(executor_, std::move(begin));
}

Task<> WatchMux::Verify(std::shared_ptr<WatchMux> self, SubscriptionPtr subscription) {
  etcdserverpb::RangeRequest request;
  request.set_key(std::string(1, '\0'));
  request.set_count_only(true);
  grpc::CallOptions options =
      self->endpoints_->Options(self->endpoints_->GetClock().Steady() + std::chrono::seconds(10));
  auto answer = co_await grpc::Unary<etcdserverpb::RangeResponse>(
      self->endpoints_->Current().calls, "/etcdserverpb.KV/Range", request, std::move(options));
  // The state is unknown, so the watch waits as it does for a member that lags behind.
  if (!answer.status.ok()) co_return;
  const std::lock_guard lock(self->mutex_);
  const Revision newest = answer.response.header().revision();
  if (newest + 1 >= subscription->next_revision) co_return;
  self->CancelAtServer(subscription);
  self->Fail(subscription, {Error::Code::kFutureRevision,
                            fmt::format("etcd is at revision {}, before revision {} that was seen: it was restored",
                                        newest, subscription->next_revision - 1)});
}

Task<Result<WatchBatch>> WatchMux::Next(SubscriptionPtr subscription) {
  for (;;) {
    std::shared_ptr<Wakeup> wakeup;
    {
      const std::lock_guard lock(mutex_);
      if (!subscription->queue.empty()) {
        WatchBatch batch = std::move(subscription->queue.front());
        subscription->queue.pop_front();
        subscription->queued_bytes = subscription->queue.empty() ? 0 : subscription->queued_bytes - SizeOf(batch);
        if (subscription->paused && subscription->queued_bytes < kResumeBytes) {
          subscription->paused = false;
          if (stream_) Create(subscription);
        }
        co_return batch;
      }
      if (subscription->error) co_return *subscription->error;
      wakeup = Wakeup::New();
      subscription->reader = wakeup;
    }
    const bool woken = co_await Wakeup::Wait(wakeup);
    if (!woken) co_return Error{Error::Code::kCancelled, "cancelled"};
  }
}

void WatchMux::RequestProgress() {
  const std::lock_guard lock(mutex_);
  if (!stream_ || stream_->Member().progress != Endpoint::Progress::kSafe) return;
  etcdserverpb::WatchRequest request;
  request.mutable_progress_request();
  stream_->Send(request);
}

void WatchMux::Remove(const SubscriptionPtr& subscription) {
  const std::lock_guard lock(mutex_);
  CancelAtServer(subscription);
  std::erase(all_, subscription);
  if (all_.empty() && stream_) stream_->Cancel();
}

void WatchMux::Stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  if (stream_) stream_->Cancel();
  const auto everyone = all_;
  for (const SubscriptionPtr& subscription : everyone)
    Fail(subscription, {Error::Code::kCancelled, "the client is closed"});
}

}  // namespace apimesh::etcd
