#pragma once

#include <string>
#include <vector>

namespace apimesh::authn_authz {

/// One text for several errors, as the reference's aggregates print: "a", or "[a, b]" without repetitions.
std::string JoinErrors(const std::vector<std::string>& errors);

}  // namespace apimesh::authn_authz
