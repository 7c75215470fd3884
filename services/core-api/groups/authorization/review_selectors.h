#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"
#include "lib/service/auth_client.h"

namespace apimesh::core_api {

/// Refuses selectors with more than 1,000 requirements or 10,000 values, which selectors of a query must not have
/// either (lib/meta/selectors/limits.h).
meta::Result<> CheckSelectorSize(const meta::json::object& attributes);

/// Returns the errors of `fieldSelector` and `labelSelector` of a review's resourceAttributes.
meta::FieldErrors ValidateSelectors(const meta::json::object& attributes);

/// Adds the requirements of the selectors to `question`. Requirements that cannot be parsed are omitted: the question
/// is then broader than requested, so that it never allows too much. Returns the message about omitted requirements for
/// the response, or "" if there are none.
std::string ReadSelectors(const meta::json::object& attributes, service::AccessQuestion& question);

}  // namespace apimesh::core_api
