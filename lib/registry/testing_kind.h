#pragma once

#include <string>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>

#include "lib/registry/resource.h"
#include "lib/schema/builtin.h"

/// A kind for the tests of this folder.
namespace apimesh::registry {

/// Returns the Deployment kind, with the real schema and a plain strategy.
inline Resource TestKind() {
  Resource resource;
  resource.gvk = {"apps", "v1", "Deployment"};
  resource.plural = "deployments";
  resource.generation = true;
  resource.schema = schema::Builtin().FindKind(resource.gvk);
  return resource;
}

/// Returns an object with this metadata (without braces) and these other fields (each preceded by a comma).
inline meta::Object TestObject(const std::string& metadata, const std::string& fields = "") {
  return meta::Object(boost::json::parse("{\"metadata\":{" + metadata + "}" + fields + "}").as_object());
}

inline std::string Text(const meta::json::value& value) { return boost::json::serialize(value); }

}  // namespace apimesh::registry
