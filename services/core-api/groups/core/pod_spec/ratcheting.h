#pragma once

#include <string_view>

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Removes errors about rules that are younger than the stored pod spec `old`: if it breaks such a rule, an update may
/// break the same rule. `errors` are those of the new spec; `path` and `pod_name` are as for ValidatePodSpec().
void DropToleratedErrors(meta::FieldErrors& errors, const meta::json::object& old, const meta::Path& path,
                         std::string_view pod_name);

}  // namespace apimesh::core_api
