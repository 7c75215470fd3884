#pragma once

#include <string_view>

#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Returns Guaranteed, Burstable or BestEffort, according to the cpu and memory requests and limits of the pod.
std::string_view QosClass(const meta::json::object& pod);

}  // namespace apimesh::core_api
