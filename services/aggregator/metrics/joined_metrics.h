#pragma once

#include <string>
#include <utility>
#include <vector>

#include "lib/base/async/task.h"
#include "services/aggregator/auth/authority.h"
#include "services/aggregator/delegation/route_table.h"
#include "services/aggregator/metrics/metric_rules.h"

namespace apimesh::aggregator {

/// The name of a process and its metrics in the Prometheus text format.
using ProcessMetrics = std::pair<std::string, std::string>;

/// Merges the metrics of several processes into one text, in which each family and each series occurs once. Counters
/// and histograms of several processes are summed; for other series the first process takes precedence. Process metrics
/// (process_…) of all processes but the first get the name of the process as a label. Metrics and labels obey `rules`.
/// The text ends with the number of metrics by their stability.
std::string JoinMetrics(const std::vector<ProcessMetrics>& processes, const MetricRules& rules);

/// Returns the metrics of the mesh as one server's: `own`, and those of all processes that answer within 2 s.
Task<std::string> CollectMetrics(std::string own, RoutesPtr routes, std::shared_ptr<Authority> authority,
                                 std::shared_ptr<const MetricRules> rules, const Clock& clock);

}  // namespace apimesh::aggregator
