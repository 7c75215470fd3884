#pragma once

#include <string>

#include "services/aggregator/delegation/route_table.h"

namespace apimesh::aggregator {

/// Metrics of the mesh itself, in the Prometheus text format: which processes answer (apimesh_process_up), and which
/// group-versions each API server serves (apimesh_served_group_version). A server that is down keeps its
/// group-versions, because their requests are still routed to it.
std::string DescribeMesh(const Routes& routes, bool authn_authz_is_up);

}  // namespace apimesh::aggregator
