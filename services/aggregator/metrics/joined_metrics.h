#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/base/task.h"
#include "services/aggregator/auth/authority.h"
#include "services/aggregator/delegation/route_table.h"

namespace apimesh::aggregator {

/// A process and its metrics in Prometheus' text format.
using ProcessMetrics = std::pair<std::string, std::string>;

/// One text of several: each family and each series once, the first process wins. What a process says of itself (process_…)
/// has its name as a label, but for the first.
std::string JoinMetrics(const std::vector<ProcessMetrics>& processes);

/// The metrics of the whole mesh, as one server's: `own` and those of all that answer within 2 s.
Task<std::string> CollectMetrics(std::string own, RoutesPtr routes, std::shared_ptr<Authority> authority);

}  // namespace apimesh::aggregator
