#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"
#include "lib/service/auth_client.h"

namespace apimesh::core_api {

/// Returns the errors of `fieldSelector` and `labelSelector` of a review's resourceAttributes.
meta::FieldErrors ValidateSelectors(const meta::json::object& attributes);

/// Adds the requirements of the selectors to `question`. Requirements that cannot be parsed are omitted: the question
/// is then broader than requested, so that it never allows too much. Returns the message about omitted requirements for
/// the response, or "" if there are none.
std::string ReadSelectors(const meta::json::object& attributes, service::AccessQuestion& question);

}  // namespace apimesh::core_api
