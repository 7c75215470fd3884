#pragma once

#include "lib/base/async/interrupt.h"
#include "lib/endpoint/request.h"

namespace apimesh::endpoint {

/// While it exists, computations on this thread end early if the client has disconnected or the deadline has passed.
/// Its creator must call CheckWanted() before it uses their results.
class WhileWanted {
 public:
  explicit WhileWanted(const ResourceRequest& request) : scope_(&IsAbandoned, &request.ctx) {}

 private:
  static bool IsAbandoned(const void* ctx) { return static_cast<const meta::RequestContext*>(ctx)->Abandoned(); }

  const Interruptible scope_;
};

}  // namespace apimesh::endpoint
