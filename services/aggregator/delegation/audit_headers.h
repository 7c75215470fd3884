#pragma once

#include "lib/mesh/delegate/delegate.h"
#include "services/aggregator/edge/exchange.h"

namespace apimesh::aggregator {

/// Moves what a delegate adds to the audit event (lib/mesh/audit_headers.h) from the response headers to the event.
/// Servers outside of the mesh add nothing, and the server behind a connection cannot describe the request.
void TakeAuditHeaders(mesh::Headers& headers, Exchange& exchange);

}  // namespace apimesh::aggregator
