#include "lib/service/stores/overrides.h"

#include <algorithm>
#include <stdexcept>

#include "lib/base/text/text.h"

namespace apimesh::service {
namespace {}  // namespace

std::vector<Override> ParseOverrides(const std::vector<std::string>& texts) {
  std::vector<Override> overrides;
  for (const std::string& text : texts) {
    const std::vector<std::string_view> sides = Split(text, '#');
    const std::vector<std::string_view> resource = Split(sides[0], '/');
    Override parsed;
    const std::vector<std::string_view> servers = Split(sides.back(), ';');
    parsed.servers.assign(servers.begin(), servers.end());
    const auto empty = [](const std::string& server) { return server.empty(); };
    if (sides.size() != 2 || resource.size() != 2 || std::any_of(parsed.servers.begin(), parsed.servers.end(), empty)) {
      throw std::invalid_argument(
          "--etcd-servers-overrides invalid, must be of format: group/resource#servers, where servers are URLs, "
          "semicolon separated: " +
          text);
    }
    parsed.resource = {std::string(resource[0]), std::string(resource[1])};
    overrides.push_back(std::move(parsed));
  }
  return overrides;
}

}  // namespace apimesh::service
