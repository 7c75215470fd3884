#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Validates a write of pods/resize.
meta::FieldErrors ValidateResize(const meta::Object& pod, const meta::Object& old);

}  // namespace apimesh::core_api
