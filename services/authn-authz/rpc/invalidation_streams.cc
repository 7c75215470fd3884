#include "services/authn-authz/rpc/invalidation_streams.h"

#include "lib/grpc/typed_call.h"

namespace apimesh::authn_authz {

InvalidationStreams::InvalidationStreams(std::shared_ptr<Revisions> revisions, std::function<bool()> loaded,
                                         boost::asio::any_io_executor executor)
    : revisions_(std::move(revisions)), loaded_(std::move(loaded)), timer_(executor) {}

std::shared_ptr<InvalidationStreams> InvalidationStreams::Start(std::shared_ptr<Revisions> revisions,
                                                                std::function<bool()> loaded,
                                                                boost::asio::any_io_executor executor) {
  std::shared_ptr<InvalidationStreams> streams(
      new InvalidationStreams(std::move(revisions), std::move(loaded), std::move(executor)));
  const auto broadcast = [weak = streams->weak_from_this()](const Revisions::Change& change) {
    if (const auto alive = weak.lock()) alive->Broadcast(change);
  };
  streams->subscription_ = streams->revisions_->Subscribe(broadcast);
  streams->Beat();
  return streams;
}

Task<> InvalidationStreams::Run(std::shared_ptr<InvalidationStreams> self, grpc::ServerCallPtr call) {
  const auto feed = std::make_shared<Feed>();
  {
    const std::lock_guard lock(self->mutex_);
    self->feeds_.insert(feed);
  }
  call->OnCancel([feed] { feed->End(); });
  // Answers that the subscriber cached before may be outdated.
  self->Send(*feed, {self->revisions_->Current(), true, true});
  for (;;) {
    const std::optional<mesh::v1::Invalidation> notice = co_await Feed::Next(feed);
    if (!notice) break;
    grpc::Message message = grpc::Pack(*notice);
    if (!co_await call->Write(std::move(message))) break;
  }
  {
    const std::lock_guard lock(self->mutex_);
    self->feeds_.erase(feed);
  }
  grpc::Status ok;
  call->Finish(ok);
}

void InvalidationStreams::Send(Feed& feed, const Revisions::Change& change) const {
  feed.Update([this, &change](mesh::v1::Invalidation& notice) {
    notice.set_loading(!loaded_());
    notice.set_revision(change.revision);
    notice.set_heartbeat_milliseconds(static_cast<std::uint32_t>(kHeartbeat.count()));
    if (change.authentication) notice.set_authentication(true);
    if (change.authorization) notice.set_authorization(true);
  });
}

void InvalidationStreams::Broadcast(const Revisions::Change& change) {
  const std::lock_guard lock(mutex_);
  for (const auto& feed : feeds_) Send(*feed, change);
}

void InvalidationStreams::Beat() {
  timer_.expires_after(kHeartbeat);
  timer_.async_wait([weak = weak_from_this()](boost::system::error_code error) {
    const auto alive = weak.lock();
    if (error || !alive) return;
    alive->Broadcast({alive->revisions_->Current(), false, false});
    alive->Beat();
  });
}

}  // namespace apimesh::authn_authz
