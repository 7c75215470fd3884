#pragma once

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <grpcpp/client_context.h>

#include <functional>
#include <memory>

#include "lib/base/task.h"

namespace apimesh::etcd {

/// Starts a callback call and waits for its end on the awaiting executor. Cancelling the coroutine cancels the call.
/// `start` gets the callback; `context` (and whatever the call uses) stays alive with `start`.
template <class Start>
Task<grpc::Status> AwaitCall(std::shared_ptr<grpc::ClientContext> context, Start start) {
  namespace asio = boost::asio;
  auto executor = co_await asio::this_coro::executor;
  auto initiate = [executor, context, &start](auto handler) {
    if (auto slot = asio::get_associated_cancellation_slot(handler); slot.is_connected()) {
      slot.assign([context](asio::cancellation_type) { context->TryCancel(); });
    }
    auto shared = std::make_shared<decltype(handler)>(std::move(handler));
    start([executor, shared](grpc::Status status) {
      asio::post(executor, [shared, status = std::move(status)]() mutable { (*shared)(std::move(status)); });
    });
  };
  co_return co_await asio::async_initiate<const asio::use_awaitable_t<>&, void(grpc::Status)>(initiate,
                                                                                             asio::use_awaitable);
}

}  // namespace apimesh::etcd
