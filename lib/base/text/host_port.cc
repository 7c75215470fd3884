#include "lib/base/text/host_port.h"

#include <algorithm>

#include <fmt/format.h>

namespace apimesh {

std::string WithPort(const std::string& host, int port) {
  const auto colons = std::count(host.begin(), host.end(), ':');
  const bool bracketed = host.starts_with('[');
  const bool has_port = bracketed ? host.find("]:") != std::string::npos : colons == 1;
  if (has_port) return host;
  return colons > 0 && !bracketed ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

}  // namespace apimesh
