#pragma once

#include <string_view>

#include "lib/base/clock.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Sets a condition of a pod to True. lastTransitionTime becomes `now`, unless the condition was True before.
void SetTrueCondition(meta::Object& pod, std::string_view type, std::string_view reason, std::string_view message,
                      WallTime now);
/// Whether the pod has the condition and it is True.
bool HasTrueCondition(const meta::Object& pod, std::string_view type);

}  // namespace apimesh::core_api
