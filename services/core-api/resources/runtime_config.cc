#include "services/core-api/resources/runtime_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace apimesh::core_api {
namespace {

constexpr std::string_view kFalse[] = {"0", "f", "F", "false", "FALSE", "False"};

/// The value of a key; without a value it is true.
std::optional<bool> ValueOf(const std::vector<std::string>& config, const std::string& key) {
  std::optional<bool> value;
  for (const std::string& element : config) {
    const std::size_t equals = std::min(element.find('='), element.size());
    if (element.substr(0, equals) != key) continue;
    const std::string_view text = std::string_view(element).substr(std::min(equals + 1, element.size()));
    value = std::find(std::begin(kFalse), std::end(kFalse), text) == std::end(kFalse);
  }
  return value;
}

/// Versions without "alpha" or "beta" in their names.
bool IsGenerallyAvailable(const std::string& version) { return version.find_first_not_of("v0123456789") == version.npos; }

}  // namespace

bool IsServed(const std::vector<std::string>& config, const meta::Gvr& resource) {
  std::vector<std::string> keys = {fmt::format("{}/{}/{}", resource.group, resource.version, resource.resource),
                                   fmt::format("{}/{}", resource.group, resource.version)};
  if (resource.group.empty()) keys.insert(keys.end(), {"api/" + resource.version, resource.version});
  if (IsGenerallyAvailable(resource.version)) keys.push_back("api/ga");
  keys.push_back("api/all");
  for (const std::string& key : keys) {
    if (const std::optional<bool> value = ValueOf(config, key)) return *value;
  }
  return true;
}

}  // namespace apimesh::core_api
