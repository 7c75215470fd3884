#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"
#include "lib/schema/correlation/correlation.h"
#include "lib/schema/schema.h"

namespace apimesh::schema {

/// Validates a custom resource against the OpenAPI vocabulary of its schema. Errors have kube-apiserver's texts, in the
/// order of the schema. Built-in kinds are not validated this way: the validation of each kind checks their enums and
/// required fields.
meta::FieldErrors ValidateCustomResource(const meta::json::object& resource, const Node& node);
/// The same for an update of `before`: errors of values that the update does not change are left out.
meta::FieldErrors ValidateCustomResourceUpdate(const meta::json::object& resource, const meta::json::object& before,
                                               const Node& node, Correlation& correlation);
/// The same for an update that changes only the status. Texts name fields relative to the status.
meta::FieldErrors ValidateStatusUpdate(const meta::json::object& resource, const meta::json::object& before,
                                       const Node& node, Correlation& correlation);

}  // namespace apimesh::schema
