#pragma once

#include <grpcpp/client_context.h>
#include <grpcpp/support/client_callback.h>

#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "lib/etcd/endpoints.h"

namespace apimesh::etcd {

/// One Watch call to one member: requests go out in order, answers come in on gRPC's threads. Lives until the call has
/// ended, whoever else lets go of it.
class WatchStream final : public grpc::ClientBidiReactor<etcdserverpb::WatchRequest, etcdserverpb::WatchResponse>,
                          public std::enable_shared_from_this<WatchStream> {
 public:
  struct Callbacks {
    std::function<void(etcdserverpb::WatchResponse&)> response;
    std::function<void(const grpc::Status&)> done;  // exactly once, last
  };
  static std::shared_ptr<WatchStream> Start(const Endpoints& endpoints, Endpoint& endpoint, Callbacks callbacks);

  void Send(etcdserverpb::WatchRequest request);
  void Cancel();
  const Endpoint& Member() const { return endpoint_; }

 private:
  WatchStream(Endpoint& endpoint, Callbacks callbacks) : endpoint_(endpoint), callbacks_(std::move(callbacks)) {}
  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;
  void End();

  Endpoint& endpoint_;
  Callbacks callbacks_;
  grpc::ClientContext context_;
  etcdserverpb::WatchResponse response_;
  std::shared_ptr<WatchStream> self_;  // until OnDone

  std::mutex mutex_;
  std::deque<etcdserverpb::WatchRequest> unsent_;  // guarded by mutex_; the front is being written while writing_
  bool writing_ = false;                           // guarded by mutex_
  bool ended_ = false;                             // guarded by mutex_
};

}  // namespace apimesh::etcd
