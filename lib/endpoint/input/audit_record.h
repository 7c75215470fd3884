#pragma once

#include "lib/endpoint/request.h"

namespace apimesh::endpoint {

/// Adds the decoded body of a write to the headers of the response, for the audit event of the request, if the edge
/// asks for it (lib/mesh/audit_headers.h). Otherwise, it does nothing.
void RecordForAudit(const ResourceRequest& request, const meta::json::object& body);

}  // namespace apimesh::endpoint
