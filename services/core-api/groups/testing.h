#pragma once

#include <string>
#include <vector>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "lib/codec/json/json_parts.h"
#include "lib/registry/resource.h"
#include "lib/schema/defaults.h"
#include "lib/testing/manual_clock.h"
#include "services/core-api/groups/kind_inputs.h"

/// Helpers for the tests of kinds.
namespace apimesh::core_api::testing {

/// Returns the inputs of kinds that read the time and nothing else.
inline KindInputs InputsWithClock() {
  static const apimesh::testing::ManualClock clock;
  KindInputs inputs;
  inputs.clock = &clock;
  return inputs;
}

inline meta::Object Parse(std::string_view text) { return meta::Object(boost::json::parse(text).as_object()); }

/// Returns the object with its defaults, as strategies receive it.
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

/// Returns the errors of a create.
inline std::vector<std::string> CreateErrors(const registry::Resource& resource, std::string_view text) {
  meta::Object object = Defaulted(resource, text);
  resource.strategy->PrepareForCreate({}, object);
  return Texts(resource.strategy->Validate({}, object));
}

/// Returns the errors of an update from `before` to `after`.
inline std::vector<std::string> UpdateErrors(const registry::Resource& resource, std::string_view before,
                                             std::string_view after) {
  const meta::Object old = Defaulted(resource, before);
  meta::Object object = Defaulted(resource, after);
  resource.strategy->PrepareForUpdate({}, object, old);
  return Texts(resource.strategy->ValidateUpdate({}, object, old));
}

/// Returns the JSON at a path, or "".
template <class... Names>
std::string JsonAt(const meta::Object& object, const Names&... names) {
  const meta::json::value* value = meta::Find(object.Root(), names...);
  return value ? boost::json::serialize(*value) : "";
}

/// Returns the cells of an object, computed only from the fields that the table declares to read.
inline std::string Row(const registry::Resource& resource, std::string_view text) {
  const meta::Object parts(codec::ParseJsonParts(text, resource.table.reads, {})->as_object());
  meta::Ages ages{WallTime()};
  return boost::json::serialize(resource.table.cells(parts, ages));
}

}  // namespace apimesh::core_api::testing
