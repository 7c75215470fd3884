#pragma once

#include <string>
#include <vector>

#include "lib/base/async/task.h"
#include "lib/service/health.h"
#include "services/aggregator/delegation/route_table.h"
#include "services/aggregator/diagnostics/health_slis.h"

namespace apimesh::aggregator {

/// Answers a health path for the complete chain: the checks of this process and of every delegate are reported in one
/// list, as kube-apiserver does. The path of a single check ("/readyz/poststarthook/rbac/bootstrap-roles") is answered
/// by the process that has this check. The results of a list are counted in `slis`.
Task<mesh::Response> AnswerHealth(const service::HealthChecks& own, RoutesPtr routes, mesh::Request request,
                                  HealthSlis& slis, const Clock& clock);

/// Merges two ?verbose reports. A check that is in both is shown once, and as failed if either failed.
std::string MergeReports(std::string_view own, std::string_view other);

/// Returns the paths of all checks, such as "/readyz/etcd", of this process and of the delegates that are up. `request`
/// is the request that the delegates get, with other paths.
Task<std::vector<std::string>> HealthPaths(const service::HealthChecks& own, RoutesPtr routes, mesh::Request request,
                                           const Clock& clock);

}  // namespace apimesh::aggregator
