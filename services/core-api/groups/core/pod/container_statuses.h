#pragma once

#include "services/core-api/validation/check.h"

/// Rules for the lists of container statuses in the status of a pod.
namespace apimesh::core_api {

/// Checks that no container that has terminated runs again, unless its restart policy allows it.
void ValidateStateTransitions(const Check& status, const meta::Object& old);

/// Validates the users and the allocated resources of all containers. `spec` is that of the pod.
void ValidateContainerStatuses(const Check& status, const meta::json::object& spec);

}  // namespace apimesh::core_api
