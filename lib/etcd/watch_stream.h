#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <functional>
#include <memory>

#include "lib/base/task.h"
#include "lib/etcd/endpoints.h"
#include "proto/etcd/v3/rpc.pb.h"

namespace apimesh::etcd {

/// One Watch call to one member: requests go out in order, answers come in on `executor`. Lives until the call has
/// ended, whoever else lets go of it.
class WatchStream {
 public:
  struct Callbacks {
    std::function<void(etcdserverpb::WatchResponse&)> response;
    std::function<void(const h2::Status&)> done;  // exactly once, last
  };
  static std::shared_ptr<WatchStream> Start(const Endpoints& endpoints, Endpoint& endpoint,
                                            const boost::asio::any_io_executor& executor, Callbacks callbacks);

  void Send(const etcdserverpb::WatchRequest& request);
  /// The callbacks do not run inside the call.
  void Cancel();
  const Endpoint& Member() const { return endpoint_; }

 private:
  WatchStream(Endpoint& endpoint, const boost::asio::any_io_executor& executor, h2::ClientCall call)
      : endpoint_(endpoint), executor_(executor), call_(std::move(call)) {}
  static Task<> Run(std::shared_ptr<WatchStream> self, Callbacks callbacks);

  Endpoint& endpoint_;
  const boost::asio::any_io_executor executor_;
  h2::ClientCall call_;
};

}  // namespace apimesh::etcd
