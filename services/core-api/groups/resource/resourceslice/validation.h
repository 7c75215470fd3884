#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Validates a ResourceSlice. `old` is nullptr on creation.
meta::FieldErrors ValidateResourceSlice(const meta::Object& slice, const meta::Object* old);

}  // namespace apimesh::core_api
