#pragma once

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include <string>
#include <vector>

#include "lib/codec/json_parts.h"
#include "lib/registry/resource.h"
#include "lib/schema/defaults.h"

/// What tests of kinds share.
namespace apimesh::core_api::testing {

inline meta::Object Parse(std::string_view text) { return meta::Object(boost::json::parse(text).as_object()); }

/// Decoded and defaulted, as strategies see it.
inline meta::Object Defaulted(const registry::Resource& resource, std::string_view text) {
  meta::Object object = Parse(text);
  schema::ApplyDefaults(object.Root(), *resource.schema);
  resource.strategy->Default(object.Root());
  return object;
}

inline std::vector<std::string> Texts(const meta::FieldErrors& errors) {
  std::vector<std::string> texts;
  for (const meta::FieldError& error : errors) texts.push_back(error.field + ": " + error.Message());
  return texts;
}

/// What a create of this would be told.
inline std::vector<std::string> CreateErrors(const registry::Resource& resource, std::string_view text) {
  meta::Object object = Defaulted(resource, text);
  resource.strategy->PrepareForCreate({}, object);
  return Texts(resource.strategy->Validate({}, object));
}

/// What an update of `before` to `after` would be told.
inline std::vector<std::string> UpdateErrors(const registry::Resource& resource, std::string_view before, std::string_view after) {
  const meta::Object old = Defaulted(resource, before);
  meta::Object object = Defaulted(resource, after);
  resource.strategy->PrepareForUpdate({}, object, old);
  return Texts(resource.strategy->ValidateUpdate({}, object, old));
}

/// The JSON at a place, or "".
template <class... Names>
std::string JsonAt(const meta::Object& object, const Names&... names) {
  const meta::json::value* value = meta::Find(object.Root(), names...);
  return value ? boost::json::serialize(*value) : "";
}

/// The cells of an object, from no more of it than the table says it reads.
inline std::string Row(const registry::Resource& resource, std::string_view text) {
  const meta::Object parts(codec::ParseJsonParts(text, resource.table.reads, {})->as_object());
  meta::Ages ages{WallTime()};
  return boost::json::serialize(resource.table.cells(parts, ages));
}

}  // namespace apimesh::core_api::testing
