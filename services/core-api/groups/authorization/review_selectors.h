#pragma once

#include "lib/meta/field_error.h"
#include "lib/meta/object.h"
#include "lib/service/auth_client.h"

namespace apimesh::core_api {

/// Complaints about `fieldSelector` and `labelSelector` of a review's resourceAttributes.
meta::FieldErrors ValidateSelectors(const meta::json::object& attributes);

/// Fills in what the selectors say, as far as it can be understood; the rest is left out, which asks for more than was
/// meant and so never allows too much. Returns what the answer must say about that, "" if all was understood.
std::string ReadSelectors(const meta::json::object& attributes, service::AccessQuestion& question);

}  // namespace apimesh::core_api
