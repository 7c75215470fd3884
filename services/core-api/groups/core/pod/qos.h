#pragma once

#include <string_view>

#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Guaranteed, Burstable or BestEffort, by the cpu and memory that the pod's containers ask for.
std::string_view QosClass(const meta::json::object& pod);

}  // namespace apimesh::core_api
