#include "services/aggregator/version.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "lib/meta/kubernetes_version.h"

namespace apimesh::aggregator {

std::string VersionJson(const std::string& git_version) {
  const std::string_view shown = git_version.empty() ? meta::kKubernetesVersion : std::string_view(git_version);
  return fmt::format(R"({{
  "major": "{0}",
  "minor": "{1}",
  "emulationMajor": "{0}",
  "emulationMinor": "{1}",
  "minCompatibilityMajor": "{0}",
  "minCompatibilityMinor": "{2}",
  "gitVersion": {3},
  "gitCommit": "",
  "gitTreeState": "clean",
  "buildDate": "1970-01-01T00:00:00Z",
  "goVersion": "",
  "compiler": "gcc",
  "platform": "linux/amd64"
}})",
                     meta::kKubernetesMajor, meta::kKubernetesMinor, meta::kKubernetesMinor - 1,
                     boost::json::serialize(boost::json::string_view(shown)));
}

}  // namespace apimesh::aggregator
