#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/names.h"
#include "lib/meta/object.h"

/// Validation of metadata for all kinds. Error messages show values as kube-apiserver does.
namespace apimesh::meta {

using NameRule = std::function<Complaints(std::string_view name, bool prefix)>;

/// Validates metadata on creation, after the name was generated. If `rule` is empty, the name must be a DNS subdomain.
FieldErrors ValidateObjectMeta(const json::object& metadata, bool namespaced, const NameRule& rule,
                               const Path& path = Path("metadata"));
/// Validates metadata on update: immutable fields, and fields whose new value may be invalid.
FieldErrors ValidateObjectMetaUpdate(const json::object& metadata, const json::object& old,
                                     const Path& path = Path("metadata"));

// Parts of the above, for fields elsewhere that have the same rules (pod templates, selectors, …). A missing or wrongly
// typed value gives no errors.
FieldErrors ValidateLabels(const json::value* labels, const Path& path);
FieldErrors ValidateAnnotations(const json::value* annotations, const Path& path);
FieldErrors ValidateOwnerReferences(const json::value* references, const Path& path);
FieldErrors ValidateFinalizers(const json::value* finalizers, const Path& path);
FieldErrors ValidateManagedFields(const json::value* entries, const Path& path);
/// Validates a metav1.LabelSelector.
FieldErrors ValidateLabelSelector(const json::object& selector, const Path& path);
/// Validates the fieldManager of a request: at most 128 bytes, printable.
FieldErrors ValidateFieldManager(std::string_view manager, const Path& path);

}  // namespace apimesh::meta
