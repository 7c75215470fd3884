#pragma once

#include <string>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include "lib/grpc/server.h"

namespace apimesh {

/// Serves `methods` at a Unix socket until the process is killed. For the gRPC servers that tests start.
inline void ServeUntilKilled(const std::string& socket, grpc::Methods methods) {
  boost::asio::io_context context{1};
  const auto work = boost::asio::make_work_guard(context);
  grpc::Listener listener;
  listener.address = "unix:" + socket;
  const auto server = grpc::Serve({listener}, std::move(methods), {&context}, Clock::System());
  context.run();
}

}  // namespace apimesh
