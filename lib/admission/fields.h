#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/admission/plugin.h"
#include "lib/meta/errors/other_errors.h"

/// Functions with which plugins read and change documents. A missing or wrongly typed field reads as absent.
namespace apimesh::admission {

namespace json = meta::json;

/// Returns whether a request writes objects of this resource.
inline bool IsResource(const Attributes& attributes, std::string_view group, std::string_view plural) {
  return attributes.resource.resource == plural && attributes.resource.group == group;
}
/// Returns whether a request writes pods, and not a subresource of them.
inline bool IsPod(const Attributes& attributes) {
  return attributes.subresource.empty() && IsResource(attributes, "", "pods");
}

/// Compares two values as kube-apiserver does: an absent value, null, an empty list and an empty map are equal. The
/// order of list elements matters, the order of keys does not. The documents must be normalised, so that quantities and
/// times are canonical.
bool SemanticallyEqual(const json::value* a, const json::value* b);

/// Returns a list. An absent list is empty.
const json::array& ListAt(const json::object& object, std::string_view name);
/// Returns a nested object. An absent object is empty.
const json::object& ObjectAt(const json::object& object, std::string_view name);
/// Returns whether the field exists and is not null.
bool Has(const json::object& object, std::string_view name);
/// Returns a boolean, or nullopt if it is absent.
std::optional<bool> BoolAt(const json::object& object, std::string_view name);
/// Returns a number, or nullopt if it is absent.
std::optional<std::int64_t> NumberAt(const json::object& object, std::string_view name);
/// Returns the list `name`, which is created if missing.
json::array& MakeList(json::object& object, std::string_view name);

inline const json::object& SpecOf(const meta::Object& object) { return ObjectAt(object.Root(), "spec"); }
inline json::object& SpecOf(meta::Object& object) { return meta::MakeObject(object.Root(), "spec"); }

/// Adds a finalizer, unless the object has it.
void AddFinalizer(meta::Object& object, std::string_view finalizer);

using meta::PlainError;
/// Returns the error with which kube-apiserver's client answers reads of a name that cannot be part of a path, or "".
std::string InvalidNameError(std::string_view name);
/// Joins error messages as kube-apiserver does: "a", or "[a, b]" without duplicates.
std::string JoinErrors(const std::vector<std::string>& messages);

/// Calls `visit(const json::object&)` for each element that is an object until it returns true. Returns whether it did.
template <class Visit>
bool AnyOf(const json::array& list, Visit visit) {
  for (const json::value& item : list) {
    if (item.is_object() && visit(item.get_object())) return true;
  }
  return false;
}

/// Calls `visit(object)` for each object in the list `name` of `parent`.
template <class Object, class Visit>
void ForEach(Object& parent, std::string_view name, Visit visit) {
  auto* list = meta::FindField(parent, name);
  if (!list || !list->is_array()) return;
  for (auto& item : list->get_array()) {
    if (item.is_object()) visit(item.get_object());
  }
}

/// The lists of containers of a pod's spec in the order in which kube-apiserver visits them.
inline constexpr std::string_view kContainerLists[] = {"initContainers", "containers", "ephemeralContainers"};

/// Calls `visit(container)` for each container of a pod's spec.
template <class Spec, class Visit>
void ForEachContainer(Spec& spec, Visit visit) {
  for (const std::string_view list : kContainerLists) ForEach(spec, list, visit);
}

}  // namespace apimesh::admission
