#include <boost/asio/signal_set.hpp>

#include <cstdio>
#include <cstdlib>

#include "lib/base/log.h"
#include "services/aggregator/server.h"

namespace apimesh::aggregator {
namespace {

int Run(int argc, char** argv) {
  Options options;
  int exit_code = 0;
  if (!ParseOptions(argc, argv, options, exit_code)) return exit_code;
  boost::asio::io_context io(1);
  boost::asio::signal_set signals(io, SIGTERM, SIGINT);
  AggregatorServer server(options, GrpcNeighbours(options), io);
  signals.async_wait([&](const boost::system::error_code&, int) {
    log::Info("stopping");
    boost::asio::co_spawn(io, server.Stop(), [&io](std::exception_ptr) { io.stop(); });
    signals.async_wait([](const boost::system::error_code& error, int) {
      if (!error) std::_Exit(1);  // asked twice: at once
    });
  });
  io.run();
  // Not torn down piece by piece: gRPC's threads may still hold what would be destroyed.
  std::fflush(nullptr);
  std::_Exit(0);
}

}  // namespace
}  // namespace apimesh::aggregator

int main(int argc, char** argv) {
  try {
    return apimesh::aggregator::Run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "aggregator: %s\n", error.what());
    return 1;
  }
}
