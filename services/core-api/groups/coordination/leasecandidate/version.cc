#include "services/core-api/groups/coordination/leasecandidate/version.h"

#include <re2/re2.h>

namespace apimesh::core_api {

std::optional<Version> ParseVersion(std::string_view text) {
  static const re2::RE2 kPattern(R"((0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*))"
                                 R"((?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?)");
  Version version;
  if (!re2::RE2::FullMatch({text.data(), text.size()}, kPattern, &version.major, &version.minor, &version.patch)) {
    return std::nullopt;
  }
  return version;
}

}  // namespace apimesh::core_api
