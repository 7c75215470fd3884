#pragma once

#include <memory>
#include <string>

#include "lib/service/metrics.h"
#include "services/authn-authz/config/options.h"

namespace apimesh::authn_authz {

/// The whole service: state, chains, gRPC. The standard health service says SERVING once the state is loaded; until then
/// calls are answered all the same, and only system:masters gets anywhere.
class Server {
 public:
  /// Listens at once; throws std::runtime_error with a clear text if something the flags name does not work.
  static std::unique_ptr<Server> Start(const Options& options, service::Metrics& metrics);
  virtual ~Server() = default;

  virtual int Port(std::size_t listener = 0) const = 0;
  /// "" when ready; otherwise what is missing.
  virtual std::string WhyNotReady() const = 0;
  /// Ends the calls under way. Blocks.
  virtual void Stop() = 0;
};

}  // namespace apimesh::authn_authz
