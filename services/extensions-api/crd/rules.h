#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

/// The validation of CustomResourceDefinitions, with kube-apiserver's messages in its order.
namespace apimesh::extensions_api {

/// Validates everything except metadata, which all kinds have in common; the rule for the name is included.
meta::FieldErrors ValidateCrd(const meta::Object& crd);
meta::FieldErrors ValidateCrdUpdate(const meta::Object& crd, const meta::Object& old);
meta::FieldErrors ValidateCrdStatus(const meta::Object& crd);

}  // namespace apimesh::extensions_api
