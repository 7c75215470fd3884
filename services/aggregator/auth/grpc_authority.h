#pragma once

#include <memory>

#include "lib/rpc/delegate.h"
#include "services/aggregator/auth/authority.h"

namespace apimesh::aggregator {

/// authn-authz over gRPC. A service that is down answers kUnavailable at once.
class GrpcAuthority : public Authority {
 public:
  /// Runs for ever: keeps the stream of invalidations open and reports each one, and nullopt when it breaks.
  virtual Task<> WatchInvalidations(InvalidationFn report) = 0;
};
std::shared_ptr<GrpcAuthority> NewGrpcAuthority(const rpc::Endpoint& endpoint);

}  // namespace apimesh::aggregator
