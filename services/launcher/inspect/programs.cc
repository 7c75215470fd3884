#include "services/launcher/inspect/programs.h"

#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

#include "lib/base/text/text.h"

namespace apimesh::launcher {

std::string FindProgram(std::string_view name) {
  const char* path = std::getenv("PATH");
  for (const std::string_view folder : Split(path ? path : "", ':')) {
    std::string candidate = fmt::format("{}/{}", folder, name);
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
  }
  return "";
}

std::string FindEnvoy() {
  if (const char* envoy = std::getenv("APIMESH_ENVOY"); envoy && ::access(envoy, X_OK) == 0) return envoy;
  return FindProgram("envoy");
}

}  // namespace apimesh::launcher
