#pragma once

#include <string>
#include <vector>

#include "services/aggregator/audit/audit_policy.h"
#include "services/aggregator/edge/exchange.h"

namespace apimesh::aggregator {

/// Returns the event as a line of the log format "legacy", with a subset of its fields.
std::string AuditText(const Exchange& exchange, const meta::UserInfo& user, const std::vector<std::string>& addresses,
                      AuditStage stage);

}  // namespace apimesh::aggregator
