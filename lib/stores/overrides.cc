#include "lib/stores/overrides.h"

#include <algorithm>
#include <stdexcept>

namespace apimesh::stores {
namespace {

std::vector<std::string> Split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end == std::string::npos ? end : end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

}  // namespace

std::vector<Override> ParseOverrides(const std::vector<std::string>& texts) {
  std::vector<Override> overrides;
  for (const std::string& text : texts) {
    const std::vector<std::string> sides = Split(text, '#');
    const std::vector<std::string> resource = Split(sides[0], '/');
    Override parsed;
    if (sides.size() == 2) parsed.servers = Split(sides[1], ';');
    const auto empty = [](const std::string& server) { return server.empty(); };
    if (sides.size() != 2 || resource.size() != 2 || std::any_of(parsed.servers.begin(), parsed.servers.end(), empty)) {
      throw std::invalid_argument(
          "--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, semicolon separated: " + text);
    }
    parsed.resource = {resource[0], resource[1]};
    overrides.push_back(std::move(parsed));
  }
  return overrides;
}

}  // namespace apimesh::stores
