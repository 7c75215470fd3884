#include "lib/etcd/watch_stream.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>

#include "lib/h2/typed_call.h"

namespace apimesh::etcd {

std::shared_ptr<WatchStream> WatchStream::Start(const Endpoints& endpoints, Endpoint& endpoint,
                                                const boost::asio::any_io_executor& executor, Callbacks callbacks) {
  h2::CallOptions options = endpoints.Options(SteadyTime::max());
  // A member cut off from its leader must end the stream instead of going silent.
  options.metadata.emplace_back("hasleader", "true");
  h2::ClientCall call = endpoint.streams->OpenOn(executor, "/etcdserverpb.Watch/Watch", std::move(options));
  std::shared_ptr<WatchStream> stream(new WatchStream(endpoint, executor, std::move(call)));
  // Posted: the stream's owner may hold the lock that its callbacks take.
  boost::asio::post(executor, [executor, stream, callbacks = std::move(callbacks)]() mutable {
    boost::asio::co_spawn(executor, Run(std::move(stream), std::move(callbacks)), boost::asio::detached);
  });
  return stream;
}

void WatchStream::Send(const etcdserverpb::WatchRequest& request) { call_.Post(h2::Pack(request)); }

void WatchStream::Cancel() { boost::asio::post(executor_, call_.Canceller()); }

Task<> WatchStream::Run(std::shared_ptr<WatchStream> self, Callbacks callbacks) {
  for (;;) {
    auto response = co_await h2::ReadAs<etcdserverpb::WatchResponse>(self->call_);
    if (!response) break;
    callbacks.response(*response);
  }
  const h2::Status status = co_await self->call_.Finish();
  callbacks.done(status);
}

}  // namespace apimesh::etcd
