#include "services/core-api/groups/core/pod_spec/defaults.h"

namespace apimesh::core_api {

meta::json::object AppArmorProfileOf(std::string_view annotation) {
  constexpr std::string_view kLocal = "localhost/";
  constexpr std::size_t kMaxLength = 4095;
  if (annotation == "unconfined") return {{"type", "Unconfined"}};
  if (annotation == "runtime/default") return {{"type", "RuntimeDefault"}};
  if (!annotation.starts_with(kLocal)) return {};
  const std::string_view name = annotation.substr(kLocal.size());
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  if (name.empty() || name.size() > kMaxLength || is_space(name.front()) || is_space(name.back())) return {};
  return {{"type", "Localhost"}, {"localhostProfile", name}};
}

}  // namespace apimesh::core_api
