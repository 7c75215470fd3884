#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "lib/meta/api_error.h"
#include "lib/meta/object.h"

/// How the rules look at documents.
namespace apimesh::admission::node_restriction {

/// Equality as in the reference: no value, null, an empty list and an empty map are the same. The order of list
/// elements counts, the order of keys does not. Documents must have the form of their schema, in which quantities and
/// times are canonical.
bool SemanticallyEqual(const meta::json::value* a, const meta::json::value* b);

/// A list that is absent is an empty one.
const meta::json::array& ListAt(const meta::json::object& object, std::string_view name);
/// Whether the field is there and not null.
bool Has(const meta::json::object& object, std::string_view name);

using StringMap = std::map<std::string, std::string, std::less<>>;
/// metadata.labels.
StringMap LabelsOf(const meta::Object& object);

/// An error whose message is quoted by the refusal that it leads to.
meta::ApiError PlainError(std::string message);

/// Calls `visit(const json::object&)` for each element that is an object until it returns true. Whether it did.
template <class Visit>
bool AnyOf(const meta::json::array& list, Visit visit) {
  for (const meta::json::value& item : list) {
    if (item.is_object() && visit(item.get_object())) return true;
  }
  return false;
}

}  // namespace apimesh::admission::node_restriction
