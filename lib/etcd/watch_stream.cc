#include "lib/etcd/watch_stream.h"

namespace apimesh::etcd {

std::shared_ptr<WatchStream> WatchStream::Start(const Endpoints& endpoints, Endpoint& endpoint, Callbacks callbacks) {
  std::shared_ptr<WatchStream> stream(new WatchStream(endpoint, std::move(callbacks)));
  stream->self_ = stream;
  // A member cut off from its leader must end the stream instead of going silent.
  stream->context_.AddMetadata("hasleader", "true");
  endpoints.AddToken(stream->context_);
  endpoint.watch->async()->Watch(&stream->context_, stream.get());
  stream->AddHold();  // writes are started from outside of reactions
  stream->StartRead(&stream->response_);
  stream->StartCall();
  return stream;
}

void WatchStream::Send(etcdserverpb::WatchRequest request) {
  const std::lock_guard lock(mutex_);
  if (ended_) return;
  unsent_.push_back(std::move(request));
  if (writing_) return;
  writing_ = true;
  StartWrite(&unsent_.front());
}

void WatchStream::Cancel() { context_.TryCancel(); }

void WatchStream::OnReadDone(bool ok) {
  if (!ok) return End();
  callbacks_.response(response_);
  response_.Clear();
  StartRead(&response_);
}

void WatchStream::OnWriteDone(bool ok) {
  const std::lock_guard lock(mutex_);
  unsent_.pop_front();
  writing_ = ok && !ended_ && !unsent_.empty();
  if (writing_) StartWrite(&unsent_.front());
}

void WatchStream::End() {
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    ended_ = true;
  }
  context_.TryCancel();  // a write that waits for flow control would keep the call open
  RemoveHold();
}

void WatchStream::OnDone(const grpc::Status& status) {
  const std::shared_ptr<WatchStream> self = std::move(self_);
  callbacks_.done(status);
  callbacks_ = {};
}

}  // namespace apimesh::etcd
