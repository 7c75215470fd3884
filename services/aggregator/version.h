#pragma once

#include <string>

namespace apimesh::aggregator {

/// Returns the body of /version. `git_version` is the value of a flag; if it is empty, the Kubernetes version of this
/// build is used.
std::string VersionJson(const std::string& git_version);

}  // namespace apimesh::aggregator
