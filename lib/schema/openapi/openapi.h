#pragma once

#include <span>
#include <string>
#include <vector>

#include "lib/meta/object.h"
#include "lib/meta/request/verb.h"
#include "lib/schema/openapi/descriptions.h"
#include "lib/schema/schema.h"

/// The OpenAPI documents of the API, generated from the schema. kubectl explain, client-side validation and apply read
/// them.
namespace apimesh::schema {

struct OpenApiResource {
  struct Subresource {
    std::string name;  // "status"
    meta::Gvk kind;    // the kind of the body
    meta::VerbSet verbs;
  };
  meta::Gvk kind;
  std::string plural;
  bool namespaced = true;
  meta::VerbSet verbs;
  std::vector<Subresource> subresources;
  std::string list_kind;  // of a custom resource, if it is not the kind with "List"
  /// For custom resources, the openAPIV3Schema of the version. nullptr if the kind is in the Schema.
  const meta::json::object* custom_schema = nullptr;
};

/// Returns "io.k8s.api.core.v1.Pod" for kinds of the Schema. For custom resources the parts of the group are reversed:
/// "io.example.v1.Foo".
std::string DefinitionName(const OpenApiResource& resource, const Schema& schema);
/// Like DefinitionName(), for the list of the kind.
std::string ListDefinitionName(const OpenApiResource& resource, const Schema& schema);

/// Returns the v3 document of one group-version. `resources` are the resources of this group-version. `texts` become
/// the descriptions of the kinds of the Schema; custom resources have their own.
meta::json::object OpenApiV3(const meta::GroupVersion& version, std::span<const OpenApiResource> resources,
                             const Schema& schema, const DescriptionTexts& texts = {});
/// Returns the v2 document of any number of group-versions.
meta::json::object OpenApiV2(std::span<const OpenApiResource> resources, const Schema& schema,
                             const DescriptionTexts& texts = {});

}  // namespace apimesh::schema
