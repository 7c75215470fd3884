#pragma once

#include "lib/base/task.h"
#include "lib/service/health.h"
#include "services/aggregator/delegation/route_table.h"

namespace apimesh::aggregator {

/// The answer to a health path for the whole chain: the checks of this process and of every delegate in one list, as one
/// server would show them. A check of its own path ("/readyz/poststarthook/rbac/bootstrap-roles") is answered by whoever has it.
Task<rpc::Response> AnswerHealth(const service::HealthChecks& own, RoutesPtr routes, rpc::Request request);

/// `own` and `other` (both ?verbose) as one report; checks that both have are shown once, failed if either failed.
std::string MergeReports(std::string_view own, std::string_view other);

}  // namespace apimesh::aggregator
