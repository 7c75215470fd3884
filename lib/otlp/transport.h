#pragma once

#include <memory>
#include <string>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"

namespace apimesh::otlp {

/// Sends messages to a collector.
class Transport {
 public:
  struct Outcome {
    std::string error;   // "": the collector has the spans
    bool again = false;  // the error may be temporary
  };
  virtual ~Transport() = default;
  /// `message` is an encoded ExportTraceServiceRequest.
  virtual Task<Outcome> Send(std::string message, SteadyTime deadline) = 0;
};

/// OTLP over gRPC without TLS. `endpoint` is a target of gRPC ("host:port", "dns:///host:port", "unix:///path"); by
/// default it is localhost:4317. Sockets in the abstract namespace (unix-abstract:) cannot be reached: every Send()
/// fails.
std::unique_ptr<Transport> NewGrpcTransport(const std::string& endpoint, const Clock& clock);
/// OTLP over HTTP without TLS. `endpoint` is "host:port" with or without dns:///; by default it is localhost:4318.
/// Throws std::invalid_argument for a Unix socket.
std::unique_ptr<Transport> NewHttpTransport(const std::string& endpoint, const Clock& clock);

}  // namespace apimesh::otlp
