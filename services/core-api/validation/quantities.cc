#include "services/core-api/validation/quantities.h"

#include <algorithm>

#include "services/core-api/validation/resource_names.h"

namespace apimesh::core_api {
const meta::Quantity* FindQuantity(const Quantities& quantities, std::string_view name) {
  const auto before = [](const auto& one, std::string_view wanted) { return one.first < wanted; };
  const auto found = std::lower_bound(quantities.begin(), quantities.end(), name, before);
  return found != quantities.end() && found->first == name ? &found->second : nullptr;
}

bool IsHugePages(std::string_view name) { return name.starts_with("hugepages-"); }

bool IsNativeResource(std::string_view name) {
  return name.find('/') == std::string_view::npos || name.find("kubernetes.io/") != std::string_view::npos;
}

bool MayOvercommit(std::string_view name) { return IsNativeResource(name) && !IsHugePages(name); }

void ValidateContainerQuantities(const Check& list) {
  for (const auto& [key, value] : list.Object()) {
    const meta::Path path = list.Path().Key(key);
    ValidateContainerResourceName(list, path, key);
    if (const std::optional<meta::Quantity> amount = QuantityOf(&value))
      ValidateResourceAmount(list, path, key, *amount);
  }
}

}  // namespace apimesh::core_api
