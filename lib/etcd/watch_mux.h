#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include "lib/base/async/wakeup.h"
#include "lib/etcd/watch_stream.h"

namespace apimesh::etcd {

/// Multiplexes many watches on one stream. If the stream breaks, all of them are opened again on another one, each
/// after the last revision it has received. Runs on `executor`; no call blocks.
class WatchMux : public std::enable_shared_from_this<WatchMux> {
 public:
  WatchMux(std::shared_ptr<Endpoints> endpoints, boost::asio::any_io_executor executor)
      : endpoints_(std::move(endpoints)), executor_(std::move(executor)) {}

  std::unique_ptr<Watch> Open(WatchOptions options);
  /// Ends all watches with kCancelled.
  void Stop();

 private:
  struct Subscription {
    WatchOptions options;
    /// On the current stream. It is new each time the watch is opened, so that late responses are recognised.
    std::int64_t id = 0;
    Revision next_revision = 0;  // the first revision that was not yet received; 0: "from now on", not yet opened
    bool created = false;        // the server has confirmed the creation
    bool exact = false;          // must start at next_revision itself, because the revision before it is compacted
    bool paused = false;  // its reader is slow: cancelled at the server, and opened again when the queue is short
    std::vector<WatchEvent> fragments;
    std::deque<WatchBatch> queue;
    std::size_t queued_bytes = 0;
    std::optional<Error> error;
    std::shared_ptr<Wakeup> reader;
  };
  using SubscriptionPtr = std::shared_ptr<Subscription>;
  class MuxedWatch;

  // The functions below require that mutex_ is held.
  void Connect();
  void Create(const SubscriptionPtr& subscription);
  void CancelAtServer(const SubscriptionPtr& subscription);
  void OnCreated(const SubscriptionPtr& subscription, Revision store_revision);
  void OnCanceled(const SubscriptionPtr& subscription, const etcdserverpb::WatchResponse& response);
  void OnEvents(const SubscriptionPtr& subscription, etcdserverpb::WatchResponse& response);
  void OnProgress(const SubscriptionPtr& subscription, Revision revision);
  void Push(const SubscriptionPtr& subscription, WatchBatch batch);
  void Fail(const SubscriptionPtr& subscription, Error error);
  void ConnectLater();
  void VerifyRevision(const SubscriptionPtr& subscription);

  // The functions below take mutex_.
  void OnResponse(std::uint64_t generation, etcdserverpb::WatchResponse& response);
  void OnStreamDone(std::uint64_t generation, const grpc::Status& status);
  Task<Result<WatchBatch>> Next(SubscriptionPtr subscription);
  void RequestProgress();
  void Remove(const SubscriptionPtr& subscription);

  static Task<> Verify(std::shared_ptr<WatchMux> self, SubscriptionPtr subscription);

  const std::shared_ptr<Endpoints> endpoints_;
  const boost::asio::any_io_executor executor_;
  std::mutex mutex_;
  std::map<std::int64_t, SubscriptionPtr> active_;  // by id: the watches that are open on the current stream
  std::vector<SubscriptionPtr> all_;
  std::deque<std::int64_t> unconfirmed_;  // ids in the order of creation: the response to a rejected creation has no id
  std::shared_ptr<WatchStream> stream_;
  std::uint64_t generation_ = 0;  // the number of stream_
  std::int64_t last_id_ = 0;
  int failures_ = 0;  // consecutive failures, for the back-off
  std::shared_ptr<boost::asio::steady_timer> retry_;
  bool stopped_ = false;
};

}  // namespace apimesh::etcd
