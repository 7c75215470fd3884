#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/service/flags.h"
#include "lib/service/health.h"
#include "lib/service/metrics.h"

namespace apimesh::grpc {
class Methods;
}

namespace apimesh::service {

/// The environment of a mesh process: logging, I/O threads, health, metrics, hooks, and the order of shutdown.
/// server.cc creates one, adds the service to it and calls Run().
class Runtime {
 public:
  /// Starts logging and the I/O threads. `clock` must outlive the process's servers; main.cc passes the clock of the
  /// system.
  Runtime(std::string_view service, CommonFlags flags, const Clock& clock);
  /// Runs the remaining OnStop() functions and ends the I/O threads.
  ~Runtime();

  boost::asio::io_context& Io();
  /// The executor of coroutines: that of Io(), which has one thread.
  boost::asio::any_io_executor Executor();
  /// The executor for large requests: an io_context with its own thread, which the first call starts.
  boost::asio::any_io_executor LargeRequests();
  HealthChecks& Health();
  Metrics& GetMetrics();
  const CommonFlags& Flags() const;
  /// The clock of everything in this process.
  const Clock& GetClock() const;

  /// Places the data of responses in memory that a peer process on this machine can read (lib/shared_memory), if
  /// --listen has a Unix socket. It must be called before anything is stored.
  void ShareMemory();
  /// Serves `handler`, with /livez, /readyz, /healthz and /metrics of this process, at --listen, from now until
  /// shutdown. `add_methods` adds the methods of further gRPC services. Throws
  /// std::runtime_error if it cannot listen.
  void Serve(std::shared_ptr<mesh::DelegateHandler> handler,
             const std::function<void(grpc::Methods&)>& add_methods = nullptr);
  /// For servers that Serve() does not start: `drain` must stop accepting requests, end watches, and wait up to `limit`
  /// for active requests.
  void OnDrain(std::function<void(std::chrono::milliseconds limit)> drain);
  /// `stop` ends background work after the servers have drained. The functions run in reverse order of registration.
  void OnStop(std::function<void()> stop);
  /// Run() starts `hook`; the check "poststarthook/NAME" fails until it has finished. An exception from it ends the
  /// process.
  void PostStart(std::string name, std::function<Task<>()> hook);

  /// Runs until SIGTERM, SIGINT or Stop(), then shuts down gracefully. Returns the exit code.
  int Run();
  /// Has the same effect as SIGTERM. May be called from any thread.
  void Stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace apimesh::service
