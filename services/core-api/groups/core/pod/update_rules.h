#pragma once

#include "services/core-api/validation/check.h"

/// The rules for changes of pods.
namespace apimesh::core_api {

/// Validates an update of a pod. Few fields of its spec can change.
meta::FieldErrors ValidatePodUpdate(const meta::Object& pod, const meta::Object& old);

}  // namespace apimesh::core_api
