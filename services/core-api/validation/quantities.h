#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "lib/meta/quantity.h"
#include "services/core-api/validation/check.h"

/// Names and quantities of resources such as cpu and memory, in requests, limits and elsewhere.
namespace apimesh::core_api {

/// Quantities with the names of their resources, sorted by name. The names refer to the document, which must outlive
/// them.
using Quantities = std::vector<std::pair<std::string_view, meta::Quantity>>;
/// Returns nullptr if there is no quantity with this name.
const meta::Quantity* FindQuantity(const Quantities& quantities, std::string_view name);

bool IsHugePages(std::string_view name);
/// Whether the resource is defined by Kubernetes: its name has no domain, or a domain below kubernetes.io.
bool IsNativeResource(std::string_view name);
/// Whether limits may be higher than requests.
bool MayOvercommit(std::string_view name);

/// Validates a map of quantities with the names of resources of containers, such as the overhead of a pod.
void ValidateContainerQuantities(const Check& list);

}  // namespace apimesh::core_api
