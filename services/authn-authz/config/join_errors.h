#pragma once

#include <string>
#include <vector>

namespace apimesh::authn_authz {

/// Joins error texts like aggregated errors of Kubernetes: "a", or "[a, b]" without duplicates.
std::string JoinErrors(const std::vector<std::string>& errors);

}  // namespace apimesh::authn_authz
