#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

// Validate the specs of admission policies. `old` is nullptr on creation.
meta::FieldErrors ValidateValidatingPolicy(const meta::Object& policy, const meta::Object* old);
meta::FieldErrors ValidateMutatingPolicy(const meta::Object& policy, const meta::Object* old);
meta::FieldErrors ValidateValidatingPolicyStatus(const meta::Object& policy);

}  // namespace apimesh::core_api
