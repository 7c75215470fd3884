#pragma once

#include <functional>
#include <vector>

#include "lib/meta/object.h"

/// Pod specs, wherever they occur: in pods and in the templates of workloads.
namespace apimesh::core_api {

/// The objects of a list; empty for nullptr or anything that is no list. What is no object is left out.
std::vector<std::reference_wrapper<const meta::json::object>> Objects(const meta::json::value* list);
std::vector<std::reference_wrapper<meta::json::object>> Objects(meta::json::value* list);

/// The three lists of containers that a pod spec has.
inline constexpr const char* kContainerLists[] = {"initContainers", "containers", "ephemeralContainers"};

}  // namespace apimesh::core_api
