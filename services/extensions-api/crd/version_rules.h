#pragma once

#include <vector>

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

/// The validation of spec.versions. kube-apiserver stores fields that all versions have in common once for the complete
/// definition (with one version, all fields are common), and its messages use these paths: spec.validation,
/// spec.subresources, spec.additionalPrinterColumns, spec.selectableFields.
namespace apimesh::extensions_api {

/// Returns the objects of spec.versions.
std::vector<const meta::json::object*> Versions(const meta::Object& crd);

/// Validates the versions and the fields that differ between them. `old` is the definition that is updated; may be
/// null.
meta::FieldErrors ValidateVersions(const meta::Object& crd, const meta::Object* old);
/// Validates the fields that all versions have in common.
meta::FieldErrors ValidateSharedVersionFields(const meta::Object& crd, const meta::Object* old);

}  // namespace apimesh::extensions_api
