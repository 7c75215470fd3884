#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>
#include <boost/json/storage_ptr.hpp>
#include <boost/json/value.hpp>

#include "lib/meta/gvk.h"

namespace apimesh::meta {

namespace json = boost::json;

/// A Kubernetes object in the write path: a JSON document, normally in its own arena (NewArena()). Reads do not create
/// one; they forward encoded bytes. Not thread-safe. Accessors of a missing or wrongly typed field return the empty
/// value; validation reports wrong types, not the accessor.
class Object {
 public:
  Object() = default;
  explicit Object(json::object root) : root_(std::move(root)) {}
  /// A copy has its own arena; a move takes over the arena of the source. (A json::object copies into the heap, and
  /// moving one between arenas copies it.)
  Object(const Object& other);
  Object(Object&& other) noexcept = default;
  Object& operator=(const Object& other) { return *this = Object(other); }
  Object& operator=(Object&& other) noexcept;

  json::object& Root() { return root_; }
  const json::object& Root() const { return root_; }

  std::string_view ApiVersion() const;
  std::string_view Kind() const;
  Gvk GetGvk() const;
  void SetGvk(const Gvk& gvk);

  /// Returns metadata, which is created if missing.
  json::object& Metadata();
  /// Returns metadata, or an empty object.
  const json::object& Metadata() const;

  std::string_view Name() const { return MetaString("name"); }
  std::string_view GenerateName() const { return MetaString("generateName"); }
  std::string_view Namespace() const { return MetaString("namespace"); }
  std::string_view Uid() const { return MetaString("uid"); }
  std::string_view ResourceVersion() const { return MetaString("resourceVersion"); }
  std::string_view DeletionTimestamp() const { return MetaString("deletionTimestamp"); }
  std::int64_t Generation() const;
  void SetMeta(std::string_view key, std::string_view value);
  void SetMeta(std::string_view key, std::int64_t value);
  void EraseMeta(std::string_view key);
  /// Returns the value of a label or annotation; nullptr if absent.
  const json::string* Label(std::string_view key) const;
  const json::string* Annotation(std::string_view key) const;

 private:
  std::string_view MetaString(std::string_view key) const;
  json::object root_;
};

/// Returns a new arena for the documents of one request. Its memory is freed at once when the last document is
/// destroyed.
json::storage_ptr NewArena();

// Lookup by field names: `Find(root, "spec", "template")` returns nullptr if a step is missing or not an object.
const json::value* FindField(const json::object& object, std::string_view name);
json::value* FindField(json::object& object, std::string_view name);
template <class... Names>
const json::value* Find(const json::object& object, std::string_view name, const Names&... names) {
  const json::value* value = FindField(object, name);
  if constexpr (sizeof...(names) == 0) {
    return value;
  } else {
    return value && value->is_object() ? Find(value->get_object(), names...) : nullptr;
  }
}
template <class... Names>
json::value* Find(json::object& object, std::string_view name, const Names&... names) {
  json::value* value = FindField(object, name);
  if constexpr (sizeof...(names) == 0) {
    return value;
  } else {
    return value && value->is_object() ? Find(value->get_object(), names...) : nullptr;
  }
}
/// Returns the string at a path, or "" if there is none.
template <class... Names>
std::string_view FindString(const json::object& object, const Names&... names) {
  const json::value* value = Find(object, names...);
  return value && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}
/// Returns the object at `name`, which is created if missing or not an object.
json::object& MakeObject(json::object& parent, std::string_view name);
/// Removes a field and keeps the order of the rest. It moves all fields after the removed one, so use EraseFields() to
/// remove many.
bool EraseField(json::object& object, std::string_view name);
/// Removes the fields for which `unwanted(name, value)` is true and keeps the order of the rest, in one pass.
/// `unwanted` is called once for each field, in order, and may change the value.
template <class Predicate>
void EraseFields(json::object& object, Predicate unwanted) {
  const auto is_unwanted = [&unwanted](auto& member) {
    return unwanted(std::string_view(member.key()), member.value());
  };
  const auto first = std::find_if(object.begin(), object.end(), is_unwanted);
  if (first == object.end()) return;
  json::object kept(object.storage());
  kept.reserve(object.size());
  for (auto it = object.begin(); it != object.end(); ++it) {
    if (it < first || (it > first && !is_unwanted(*it))) kept.emplace(it->key(), std::move(it->value()));
  }
  object = std::move(kept);
}

}  // namespace apimesh::meta
