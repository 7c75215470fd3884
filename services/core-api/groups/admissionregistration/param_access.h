#pragma once

#include <functional>

#include "lib/registry/resource.h"
#include "services/core-api/groups/kind_inputs.h"

namespace apimesh::core_api {

/// Returns the errors of an object; `old` is nullptr if it is new.
using ValidateObject = std::function<meta::FieldErrors(const meta::Object& object, const meta::Object* old)>;

/// Requires that a user who writes a policy with a paramKind may read all objects of this kind. Objects that `validate`
/// finds errors in are not checked, because the strategy rejects them.
std::shared_ptr<registry::WriteChecks> PolicyParamChecks(const KindInputs& inputs, meta::GroupKind kind,
                                                         ValidateObject validate);
/// Requires that a user who writes a binding with a paramRef may read the objects that it refers to. `policies` is the
/// plural of the kind of policy.
std::shared_ptr<registry::WriteChecks> BindingParamChecks(const KindInputs& inputs, meta::GroupKind kind,
                                                          std::string policies, ValidateObject validate);

}  // namespace apimesh::core_api
