#pragma once

#include <functional>
#include <vector>

#include "lib/meta/object.h"

/// Iteration over lists in documents.
namespace apimesh::core_api {

/// Returns the objects of a list, without items that are not objects. Returns an empty list if `list` is nullptr or not
/// a list.
std::vector<std::reference_wrapper<const meta::json::object>> Objects(const meta::json::value* list);
std::vector<std::reference_wrapper<meta::json::object>> Objects(meta::json::value* list);

/// The three lists of containers that a pod spec has.
inline constexpr const char* kContainerLists[] = {"initContainers", "containers", "ephemeralContainers"};

}  // namespace apimesh::core_api
