#pragma once

#include <string>
#include <string_view>

namespace apimesh::meta {

/// The version of Kubernetes whose API this build serves. /version, --version, the OpenAPI documents and the User-Agent
/// header report it. docs/adding_things.md lists what else changes with a new version.
inline constexpr std::string_view kKubernetesVersion = "v1.36.3";

/// Returns the number at `index` (0: major, 1: minor, 2: patch) of a version such as "v1.36.3".
constexpr int VersionNumber(std::string_view version, int index) {
  int number = 0;
  for (const char c : version.substr(1)) {
    if (c == '.' && index-- == 0) break;
    if (c == '.')
      number = 0;
    else
      number = number * 10 + (c - '0');
  }
  return number;
}
inline constexpr int kKubernetesMajor = VersionNumber(kKubernetesVersion, 0);
inline constexpr int kKubernetesMinor = VersionNumber(kKubernetesVersion, 1);
static_assert(VersionNumber("v1.36.3", 0) == 1 && VersionNumber("v1.36.3", 1) == 36 &&
              VersionNumber("v1.36.3", 2) == 3);

/// The User-Agent of requests that the mesh itself sends.
inline std::string OwnUserAgent() {
  return "kube-apiserver/" + std::string(kKubernetesVersion) + " (linux/amd64) apimesh";
}

}  // namespace apimesh::meta
