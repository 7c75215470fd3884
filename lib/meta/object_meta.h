#pragma once

#include "lib/meta/field_error.h"
#include "lib/meta/names.h"
#include "lib/meta/object.h"

/// Rules of metadata that hold for every kind. Values are shown as the reference shows them.
namespace apimesh::meta {

using NameRule = std::function<Complaints(std::string_view name, bool prefix)>;

/// On creation, after the name was generated. `rule` may be empty: a DNS subdomain.
FieldErrors ValidateObjectMeta(const json::object& metadata, bool namespaced, const NameRule& rule,
                               const Path& path = Path("metadata"));
/// On update: what must not change, and what could have become wrong.
FieldErrors ValidateObjectMetaUpdate(const json::object& metadata, const json::object& old,
                                     const Path& path = Path("metadata"));

// Parts of the above, for the fields that have the same rules elsewhere (pod templates, selectors, …). A missing or
// wrongly typed value has no complaints.
FieldErrors ValidateLabels(const json::value* labels, const Path& path);
FieldErrors ValidateAnnotations(const json::value* annotations, const Path& path);
FieldErrors ValidateOwnerReferences(const json::value* references, const Path& path);
FieldErrors ValidateFinalizers(const json::value* finalizers, const Path& path);
FieldErrors ValidateManagedFields(const json::value* entries, const Path& path);
/// A metav1.LabelSelector.
FieldErrors ValidateLabelSelector(const json::object& selector, const Path& path);
/// The fieldManager of a request: at most 128 bytes, printable.
FieldErrors ValidateFieldManager(std::string_view manager, const Path& path);

}  // namespace apimesh::meta
