#include "lib/etcd/watch_stream.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include "lib/grpc/typed_call.h"

namespace apimesh::etcd {

std::shared_ptr<WatchStream> WatchStream::Start(const Endpoints& endpoints, Endpoint& endpoint,
                                                const boost::asio::any_io_executor& executor, Callbacks callbacks) {
  grpc::CallOptions options = endpoints.Options(SteadyTime::max());
  // A member that has lost its leader must end the stream instead of staying silent.
  options.metadata.emplace_back("hasleader", "true");
  grpc::ClientCall call = endpoint.streams->OpenOn(executor, "/etcdserverpb.Watch/Watch", std::move(options));
  std::shared_ptr<WatchStream> stream(new WatchStream(endpoint, executor, std::move(call)));
  // Posted, because the stream's owner may hold the lock that its callbacks take.
  boost::asio::post(executor, [executor, stream, callbacks = std::move(callbacks)]() mutable {
    boost::asio::co_spawn(executor, Run(std::move(stream), std::move(callbacks)), boost::asio::detached);
  });
  return stream;
}

void WatchStream::Send(const etcdserverpb::WatchRequest& request) { call_.Post(grpc::Pack(request)); }

void WatchStream::Cancel() { boost::asio::post(executor_, call_.Canceller()); }

Task<> WatchStream::Run(std::shared_ptr<WatchStream> self, Callbacks callbacks) {
  for (;;) {
    auto response = co_await grpc::ReadAs<etcdserverpb::WatchResponse>(self->call_);
    if (!response) break;
    callbacks.response(*response);
  }
  const grpc::Status status = co_await self->call_.Finish();
  callbacks.done(status);
}

}  // namespace apimesh::etcd
