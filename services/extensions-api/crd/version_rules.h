#pragma once

#include <vector>

#include "lib/meta/field_error.h"
#include "lib/meta/object.h"

/// The rules of spec.versions. The reference keeps what all versions have in common once for the whole definition (a definition of one version
/// has everything in common), and names it so in its texts: spec.validation, spec.subresources, spec.additionalPrinterColumns, spec.selectableFields.
namespace apimesh::extensions_api {

/// The objects of spec.versions.
std::vector<const meta::json::object*> Versions(const meta::Object& crd);

/// The versions themselves and what differs between them.
meta::FieldErrors ValidateVersions(const meta::Object& crd);
/// What they have in common.
meta::FieldErrors ValidateSharedVersionFields(const meta::Object& crd);

}  // namespace apimesh::extensions_api
