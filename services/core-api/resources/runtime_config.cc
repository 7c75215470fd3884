#include "services/core-api/resources/runtime_config.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

namespace apimesh::core_api {
namespace {

constexpr std::string_view kFalse[] = {"0", "f", "F", "false", "FALSE", "False"};

/// Returns the value of a key, or nullopt if `config` does not contain it. A key without a value is true.
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

std::string_view StageKey(std::string_view version) {
  if (IsStable(version)) return "api/ga";
  return version.find("beta") != version.npos ? "api/beta" : "api/alpha";
}

}  // namespace

bool IsStable(std::string_view version) { return version.find_first_not_of("v0123456789") == version.npos; }

bool IsServed(const std::vector<std::string>& config, const meta::Gvr& resource) {
  std::vector<std::string> keys = {fmt::format("{}/{}/{}", resource.group, resource.version, resource.resource),
                                   fmt::format("{}/{}", resource.group, resource.version)};
  if (resource.group.empty()) keys.insert(keys.end(), {"api/" + resource.version, resource.version});
  keys.emplace_back(StageKey(resource.version));
  keys.push_back("api/all");
  for (const std::string& key : keys) {
    if (const std::optional<bool> value = ValueOf(config, key)) return *value;
  }
  return IsStable(resource.version);
}

}  // namespace apimesh::core_api
