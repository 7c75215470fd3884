#pragma once

#include "lib/meta/field_error.h"
#include "lib/meta/object.h"

/// The rules of CustomResourceDefinitions, in the reference's words and order.
namespace apimesh::extensions_api {

/// Without the rules of metadata, which every kind has; the rule of the name is here.
meta::FieldErrors ValidateCrd(const meta::Object& crd);
meta::FieldErrors ValidateCrdUpdate(const meta::Object& crd, const meta::Object& old);
meta::FieldErrors ValidateCrdStatus(const meta::Object& crd);

}  // namespace apimesh::extensions_api
