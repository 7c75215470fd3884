#include "services/aggregator/version.h"

#include <boost/json.hpp>
#include <fmt/format.h>

namespace apimesh::aggregator {

std::string VersionJson(const std::string& git_version) {
  return fmt::format(R"({{
  "major": "1",
  "minor": "36",
  "emulationMajor": "1",
  "emulationMinor": "36",
  "minCompatibilityMajor": "1",
  "minCompatibilityMinor": "35",
  "gitVersion": {},
  "gitCommit": "",
  "gitTreeState": "clean",
  "buildDate": "1970-01-01T00:00:00Z",
  "goVersion": "",
  "compiler": "gcc",
  "platform": "linux/amd64"
}})",
                     boost::json::serialize(boost::json::string_view(git_version)));
}

}  // namespace apimesh::aggregator
