#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Keeps the observed generations of the stored status where the new one has none, because older kubelets do not know
/// them.
void KeepObservedGenerations(meta::Object& pod, const meta::Object& old);

/// Validates a write of /status.
meta::FieldErrors ValidatePodStatusUpdate(const meta::Object& pod, const meta::Object& old);

}  // namespace apimesh::core_api
