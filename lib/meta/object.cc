#include "lib/meta/object.h"

#include <memory>

#include <boost/json/monotonic_resource.hpp>

namespace apimesh::meta {

const json::value* FindField(const json::object& object, std::string_view name) {
  return object.if_contains(json::string_view(name.data(), name.size()));
}

json::value* FindField(json::object& object, std::string_view name) {
  return object.if_contains(json::string_view(name.data(), name.size()));
}

json::object& MakeObject(json::object& parent, std::string_view name) {
  json::value& value = parent[json::string_view(name.data(), name.size())];
  return value.is_object() ? value.get_object() : value.emplace_object();
}

bool EraseField(json::object& object, std::string_view name) {
  const auto it = object.find(json::string_view(name.data(), name.size()));
  if (it == object.end()) return false;
  object.stable_erase(it);
  return true;
}

json::storage_ptr NewArena() { return json::make_shared_resource<json::monotonic_resource>(); }

Object::Object(const Object& other) : root_(other.root_, NewArena()) {}

Object& Object::operator=(Object&& other) noexcept {
  if (this == &other) return *this;
  std::destroy_at(&root_);
  std::construct_at(&root_, std::move(other.root_));
  return *this;
}

std::string_view Object::ApiVersion() const { return FindString(root_, "apiVersion"); }
std::string_view Object::Kind() const { return FindString(root_, "kind"); }

Gvk Object::GetGvk() const {
  GroupVersion version = GroupVersion::Parse(ApiVersion());
  return {std::move(version.group), std::move(version.version), std::string(Kind())};
}

void Object::SetGvk(const Gvk& gvk) {
  root_["kind"] = gvk.kind;
  root_["apiVersion"] = gvk.ApiVersion();
}

json::object& Object::Metadata() { return MakeObject(root_, "metadata"); }

const json::object& Object::Metadata() const {
  static const json::object empty;
  const json::value* value = FindField(root_, "metadata");
  return value && value->is_object() ? value->get_object() : empty;
}

std::int64_t Object::Generation() const {
  const json::value* value = FindField(Metadata(), "generation");
  return value && value->is_int64() ? value->get_int64() : 0;
}

void Object::SetMeta(std::string_view key, std::string_view value) {
  Metadata()[json::string_view(key.data(), key.size())] = json::string_view(value.data(), value.size());
}

void Object::SetMeta(std::string_view key, std::int64_t value) {
  Metadata()[json::string_view(key.data(), key.size())] = value;
}

void Object::EraseMeta(std::string_view key) { EraseField(Metadata(), key); }

const json::string* Object::Label(std::string_view key) const {
  const json::value* value = Find(Metadata(), "labels", key);
  return value ? value->if_string() : nullptr;
}

const json::string* Object::Annotation(std::string_view key) const {
  const json::value* value = Find(Metadata(), "annotations", key);
  return value ? value->if_string() : nullptr;
}

std::string_view Object::MetaString(std::string_view key) const { return FindString(Metadata(), key); }

}  // namespace apimesh::meta
