#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <deque>
#include <map>
#include <memory>
#include <mutex>

#include "lib/base/wakeup.h"
#include "lib/etcd/watch_stream.h"

namespace apimesh::etcd {

/// Many watches over one stream. When the stream breaks, all of them are opened again on another one, each after the
/// last revision it has. Runs on `executor`; no call blocks.
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
    std::int64_t id = 0;         // on the present stream; a new one each time it is opened, so late answers are told apart
    Revision next_revision = 0;  // the first one not yet received; 0: "from now on", not opened yet
    bool created = false;        // the server has confirmed it
    bool exact = false;          // must begin at next_revision itself: the one before it is compacted
    bool paused = false;         // its reader is behind: closed at the server, opened again when the queue is short
    std::vector<WatchEvent> fragments;
    std::deque<WatchBatch> queue;
    std::size_t queued_bytes = 0;
    std::optional<Error> error;
    std::shared_ptr<Wakeup> reader;
  };
  using SubscriptionPtr = std::shared_ptr<Subscription>;
  class MuxedWatch;

  // All below: mutex_ is held.
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

  // These take mutex_.
  void OnResponse(std::uint64_t generation, etcdserverpb::WatchResponse& response);
  void OnStreamDone(std::uint64_t generation, const h2::Status& status);
  Task<Result<WatchBatch>> Next(SubscriptionPtr subscription);
  void RequestProgress();
  void Remove(const SubscriptionPtr& subscription);

  static Task<> Verify(std::shared_ptr<WatchMux> self, SubscriptionPtr subscription);

  const std::shared_ptr<Endpoints> endpoints_;
  const boost::asio::any_io_executor executor_;
  std::mutex mutex_;
  std::map<std::int64_t, SubscriptionPtr> active_;  // by id: opened on the present stream
  std::vector<SubscriptionPtr> all_;
  std::deque<std::int64_t> unconfirmed_;  // ids in the order they were asked for: refusals come without an id
  std::shared_ptr<WatchStream> stream_;
  std::uint64_t generation_ = 0;  // of stream_
  std::int64_t last_id_ = 0;
  int failures_ = 0;  // in a row, for the back-off
  std::shared_ptr<boost::asio::steady_timer> retry_;
  bool stopped_ = false;
};

}  // namespace apimesh::etcd
