#pragma once

#include <string>
#include <string_view>

namespace apimesh::aggregator {

/// The Kubernetes release whose API we serve.
constexpr std::string_view kDefaultVersion = "v1.36.3";

/// The body of /version. `git_version` may be any text that a flag set.
std::string VersionJson(const std::string& git_version);

}  // namespace apimesh::aggregator
