#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>

namespace apimesh::rpc {

/// An executor that runs what is dispatched at once, on the thread that dispatches, and posts the rest to `io`. A
/// coroutine on it is resumed by the thread that has its result, which saves two thread switches for every call that
/// a server handles; timers and sockets still run on `io`. What runs on it must never block.
boost::asio::any_io_executor DirectExecutor(boost::asio::io_context& io);

}  // namespace apimesh::rpc
