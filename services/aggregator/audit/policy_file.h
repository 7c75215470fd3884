#pragma once

#include <string>
#include <vector>

#include "services/aggregator/audit/audit_policy.h"

namespace apimesh::aggregator {

/// Parses and validates the text of a policy file. Throws std::runtime_error with kube-apiserver's message if it is
/// invalid.
std::vector<AuditPolicy::Rule> ParseAuditRules(const std::string& text);

}  // namespace apimesh::aggregator
