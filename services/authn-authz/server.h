#pragma once

#include <memory>
#include <string>

#include "lib/service/metrics.h"
#include "services/authn-authz/config/options.h"

namespace apimesh::authn_authz {

/// The service: state, chains and gRPC. The standard health service reports SERVING once the state is loaded. Until
/// then calls are answered, but RBAC allows nothing, so usually only system:masters is allowed.
class Server final {
 public:
  /// Starts to listen immediately. Throws std::runtime_error if the options are invalid.
  Server(const Options& options, service::Metrics& metrics, const Clock& clock);
  ~Server();

  int Port(std::size_t listener = 0) const;
  /// Returns "" when ready; otherwise what is missing.
  std::string WhyNotReady() const;
  /// Ends the calls in progress. Blocks.
  void Stop();

 private:
  class State;
  const std::unique_ptr<State> state_;
};

}  // namespace apimesh::authn_authz
