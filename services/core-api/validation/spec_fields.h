#pragma once

#include "services/core-api/validation/check.h"

/// Rules of fields that the specs of many kinds have.
namespace apimesh::core_api {

/// Returns the spec of an object, with the list to which its errors are added. The spec is empty if the object has
/// none.
Check SpecOf(const meta::Object& object, meta::FieldErrors& errors);
/// The same for the status.
Check StatusOf(const meta::Object& object, meta::FieldErrors& errors);

/// Adds an error if an update changes this field of the spec.
void ValidateImmutable(std::string_view field, const Check& spec, const meta::Object& old);

/// Validates the field "selector" of a spec as a label selector, which must be present, well formed and not empty.
/// `kind` is the kind that the message about an empty selector names, and `malformed` is the message about a selector
/// that cannot be parsed. Returns false for the latter; the pod template is not validated then. For a label selector
/// elsewhere, use meta::ValidateLabelSelector.
bool ValidateSelector(const Check& spec, std::string_view kind, std::string malformed = "invalid label selector");

/// Adds an error if an update changes this field of the object itself.
void ValidateImmutableAtRoot(std::string_view field, const meta::Object& object, const meta::Object& old,
                             meta::FieldErrors& errors);

}  // namespace apimesh::core_api
