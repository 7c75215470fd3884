#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lib/base/task.h"
#include "lib/rpc/delegate.h"
#include "lib/service/flags.h"
#include "lib/service/health.h"
#include "lib/service/metrics.h"

namespace apimesh::service {

/// What a process of the mesh lives in: logging, I/O threads, health, metrics, hooks, and the order of its end.
/// server.cc makes one, wires the service into it and calls Run().
class Runtime {
 public:
  /// Starts logging and the I/O threads.
  Runtime(std::string_view service, CommonFlags flags);
  /// Ends the I/O threads; what was given to OnStop() and is not yet done is done first.
  ~Runtime();

  boost::asio::io_context& Io();
  /// Where coroutines run: Io(), which has one thread.
  boost::asio::any_io_executor Executor();
  /// Where the work of large requests is done: an io_context with a thread of its own, which this starts.
  boost::asio::any_io_executor LargeRequests();
  HealthChecks& Health();
  Metrics& GetMetrics();
  const CommonFlags& Flags() const;

  /// Keeps what answers are made of where a neighbour on this machine can read it (lib/segment), if one may come: if
  /// --listen names a Unix socket. Before anything is stored.
  void ShareMemory();
  /// Serves `handler`, with /livez, /readyz, /healthz and /metrics of this process, at --listen, from now until the stop.
  /// Throws std::runtime_error if it can't listen.
  void Serve(std::shared_ptr<rpc::DelegateHandler> handler);
  /// For other servers than Serve()'s: takes no new requests, ends watches, waits for what is under way up to `limit`.
  void OnDrain(std::function<void(std::chrono::milliseconds limit)> drain);
  /// Ends background work, after the servers have drained. Run in the reverse order of their coming.
  void OnStop(std::function<void()> stop);
  /// Begun by Run(); "poststarthook/NAME" fails until it is finished. An exception out of it ends the process.
  void PostStart(std::string name, std::function<Task<>()> hook);

  /// Until SIGTERM, SIGINT or Stop(); then the graceful stop. Returns the exit code.
  int Run();
  /// As SIGTERM does. Callable from any thread.
  void Stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace apimesh::service
