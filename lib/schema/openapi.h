#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "lib/meta/object.h"
#include "lib/schema/schema.h"

/// The OpenAPI documents of the API, made from the schema: what kubectl explain, client-side validation and apply read.
namespace apimesh::schema {

struct OpenApiResource {
  struct Subresource {
    std::string name;  // "status"
    meta::Gvk kind;    // of the body
    std::set<std::string> verbs;
  };
  meta::Gvk kind;
  std::string plural;
  bool namespaced = true;
  std::set<std::string> verbs;
  std::vector<Subresource> subresources;
  /// Custom resources: the openAPIV3Schema of the version, which is published as it is. nullptr: the kind is in the Schema.
  const meta::json::object* custom_schema = nullptr;
};

/// "io.k8s.api.core.v1.Pod" for kinds of the Schema; for custom resources the group's words in reverse: "io.example.v1.Foo".
std::string DefinitionName(const OpenApiResource& resource, const Schema& schema);

/// The v3 document of one group-version; `resources` are those of this group-version.
meta::json::object OpenApiV3(const meta::GroupVersion& version, std::span<const OpenApiResource> resources, const Schema& schema);
/// The v2 document of any number of group-versions.
meta::json::object OpenApiV2(std::span<const OpenApiResource> resources, const Schema& schema);

}  // namespace apimesh::schema
