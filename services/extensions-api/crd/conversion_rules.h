#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::extensions_api {

/// Validates spec.conversion: the strategy, and the address and the review versions of a conversion webhook.
meta::FieldErrors ValidateConversion(const meta::Object& crd);

/// Returns whether the caBundle of the conversion webhook is missing or contains a certificate.
bool HasUsableCaBundle(const meta::Object& crd);
/// An established definition must keep a usable caBundle. One that is not established yet may get it later.
meta::FieldErrors ValidateCaBundleUpdate(const meta::Object& crd, const meta::Object& old);

}  // namespace apimesh::extensions_api
