#pragma once

#include "lib/meta/request/request_context.h"

namespace apimesh::registry {

/// Returns the context for releasing what a request has allocated. It has its own deadline, because the release must
/// also happen if the deadline of the request has passed or its client has disconnected.
meta::RequestContext CleanupContext(const meta::RequestContext& ctx, const Clock& clock);

}  // namespace apimesh::registry
