#pragma once

#include <functional>
#include <memory>

#include <boost/asio/any_io_executor.hpp>

#include "lib/base/async/task.h"
#include "lib/etcd/endpoints.h"
#include "proto/etcd/v3/rpc.pb.h"

namespace apimesh::etcd {

/// One Watch call to one member: requests are sent in order, responses arrive on `executor`. The stream exists until
/// the call has ended, even if its owner releases it earlier.
class WatchStream {
 public:
  struct Callbacks {
    std::function<void(etcdserverpb::WatchResponse&)> response;
    std::function<void(const grpc::Status&)> done;  // called exactly once, as the last callback
  };
  static std::shared_ptr<WatchStream> Start(const Endpoints& endpoints, Endpoint& endpoint,
                                            const boost::asio::any_io_executor& executor, Callbacks callbacks);

  void Send(const etcdserverpb::WatchRequest& request);
  /// The callbacks do not run inside this call.
  void Cancel();
  const Endpoint& Member() const { return endpoint_; }

 private:
  WatchStream(Endpoint& endpoint, const boost::asio::any_io_executor& executor, grpc::ClientCall call)
      : endpoint_(endpoint), executor_(executor), call_(std::move(call)) {}
  static Task<> Run(std::shared_ptr<WatchStream> self, Callbacks callbacks);

  Endpoint& endpoint_;
  const boost::asio::any_io_executor executor_;
  grpc::ClientCall call_;
};

}  // namespace apimesh::etcd
