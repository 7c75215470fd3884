#pragma once

#include <string>
#include <vector>

namespace apimesh::launcher {

/// The launcher under the name kube-apiserver: checks the flags, runs the four services, ends with them. Returns the exit code.
int RunKubeApiserver(const std::vector<std::string>& arguments);

/// The version this server claims at /version and by --version.
inline constexpr const char* kKubernetesVersion = "v1.36.3";

}  // namespace apimesh::launcher
