#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"
#include "services/extensions-api/crd/expressions/expression_rules.h"

namespace apimesh::extensions_api {

/// Validates an openAPIV3Schema of a CustomResourceDefinition, with kube-apiserver's messages in its order. `path` is
/// the position of the schema: spec.validation.openAPIV3Schema or spec.versions[0].schema.openAPIV3Schema. `status`:
/// the version has a status subresource.
meta::FieldErrors ValidateSchema(const meta::json::object& openapi, bool status, const meta::Path& path,
                                 const ExpressionRules::Options& options);

}  // namespace apimesh::extensions_api
