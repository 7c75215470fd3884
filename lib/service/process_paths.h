#pragma once

#include <memory>
#include <optional>
#include <string>

#include "lib/http/server.h"
#include "lib/rpc/delegate.h"
#include "lib/service/health.h"
#include "lib/service/metrics.h"

namespace apimesh::service {

/// What a process answers about itself. Both outlive everything made from this.
struct ProcessPaths {
  const HealthChecks* health;
  const Metrics* metrics;

  /// /livez, /readyz, /healthz and their checks, /metrics; nullopt: another path.
  std::optional<rpc::Response> Answer(std::string_view path, std::string_view query) const;
};

/// `handler` behind the paths of the process.
std::shared_ptr<rpc::DelegateHandler> WithProcessPaths(ProcessPaths paths, std::shared_ptr<rpc::DelegateHandler> handler);

/// The same paths as plain HTTP at "unix:/path" or "host:port"; throws std::runtime_error if it can't listen.
std::unique_ptr<http::Server> ServeProcessPaths(ProcessPaths paths, const std::string& address);

}  // namespace apimesh::service
