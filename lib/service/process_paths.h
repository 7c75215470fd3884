#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lib/http/server.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/service/health.h"
#include "lib/service/metrics.h"

namespace apimesh::service {

/// Serves the health and metrics paths of a process. Both members must outlive every object made from this one.
struct ProcessPaths {
  const HealthChecks* health;
  const Metrics* metrics;

  /// Answers /livez, /readyz, /healthz, the paths of their checks, and /metrics; nullopt for other paths.
  std::optional<mesh::Response> Answer(std::string_view path, std::string_view query) const;
};

/// A handler that answers the paths of the process and its diagnosis (diagnostics/), and passes other requests to
/// `handler`.
std::shared_ptr<mesh::DelegateHandler> WithProcessPaths(ProcessPaths paths,
                                                        std::shared_ptr<mesh::DelegateHandler> handler);

/// Serves the same paths over plain HTTP at "unix:/path" or "host:port". Throws std::runtime_error if it cannot listen.
std::unique_ptr<http::Server> ServeProcessPaths(ProcessPaths paths, const std::string& address, const Clock& clock);

}  // namespace apimesh::service
