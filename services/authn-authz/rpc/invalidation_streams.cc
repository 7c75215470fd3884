#include "services/authn-authz/rpc/invalidation_streams.h"

namespace apimesh::authn_authz {

class InvalidationStreams::Stream final : public grpc::ServerWriteReactor<mesh::v1::Invalidation> {
 public:
  explicit Stream(std::shared_ptr<InvalidationStreams> owner) : owner_(std::move(owner)) {}

  void Tell(const Revisions::Change& change) {
    const std::lock_guard lock(mutex_);
    if (finished_) return;
    next_.set_revision(change.revision);
    if (change.authentication) next_.set_authentication(true);
    if (change.authorization) next_.set_authorization(true);
    waiting_ = true;
    WriteNext();
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (!ok || cancelled_) return End();
    if (waiting_) WriteNext();
  }
  void OnCancel() override {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    if (!writing_) End();
  }
  void OnDone() override {
    {
      const std::lock_guard lock(owner_->mutex_);
      owner_->streams_.erase(this);
    }
    delete this;
  }

 private:
  // Both are called with mutex_ held.
  void WriteNext() {
    if (writing_) return;
    current_ = next_;
    current_.set_heartbeat_milliseconds(static_cast<std::uint32_t>(kHeartbeat.count()));
    next_.Clear();
    waiting_ = false;
    writing_ = true;
    StartWrite(&current_);
  }
  void End() {
    if (finished_) return;
    finished_ = true;
    Finish(grpc::Status::OK);
  }

  const std::shared_ptr<InvalidationStreams> owner_;
  std::mutex mutex_;
  mesh::v1::Invalidation current_, next_;  // guarded by mutex_; current_ is gRPC's while writing_
  bool writing_ = false, waiting_ = false, cancelled_ = false, finished_ = false;
};

InvalidationStreams::InvalidationStreams(std::shared_ptr<Revisions> revisions, boost::asio::any_io_executor executor)
    : revisions_(std::move(revisions)), timer_(executor) {}

std::shared_ptr<InvalidationStreams> InvalidationStreams::Start(std::shared_ptr<Revisions> revisions,
                                                                boost::asio::any_io_executor executor) {
  std::shared_ptr<InvalidationStreams> streams(new InvalidationStreams(std::move(revisions), std::move(executor)));
  const auto tell = [weak = streams->weak_from_this()](const Revisions::Change& change) {
    if (const auto alive = weak.lock()) alive->Tell(change);
  };
  streams->subscription_ = streams->revisions_->Subscribe(tell);
  streams->Beat();
  return streams;
}

grpc::ServerWriteReactor<mesh::v1::Invalidation>* InvalidationStreams::Open() {
  auto* stream = new Stream(shared_from_this());
  {
    const std::lock_guard lock(mutex_);
    streams_.insert(stream);
  }
  // Whatever the subscriber has kept from before may be out of date.
  stream->Tell({revisions_->Current(), true, true});
  return stream;
}

void InvalidationStreams::Tell(const Revisions::Change& change) {
  const std::lock_guard lock(mutex_);
  for (Stream* stream : streams_) stream->Tell(change);
}

void InvalidationStreams::Beat() {
  timer_.expires_after(kHeartbeat);
  timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    const auto alive = weak.lock();
    if (error || !alive) return;
    alive->Tell({alive->revisions_->Current(), false, false});
    alive->Beat();
  });
}

}  // namespace apimesh::authn_authz
