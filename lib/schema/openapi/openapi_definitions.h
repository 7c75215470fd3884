#pragma once

#include <map>
#include <set>

#include "lib/schema/openapi/openapi.h"

namespace apimesh::schema {

enum class OpenApiVersion { kV2, kV3 };

/// Collects the definitions that a document needs, by following references.
class OpenApiDefinitions {
 public:
  OpenApiDefinitions(OpenApiVersion version, const Schema& schema, const DescriptionTexts& texts)
      : version_(version), schema_(schema), texts_(texts) {}

  /// Returns {"$ref": …} to a definition, and adds the definition with all definitions that it refers to.
  meta::json::object Reference(const Node& node);
  meta::json::object Reference(std::string_view definition);
  void AddCustom(const OpenApiResource& resource);

  /// Returns all definitions, sorted by name.
  meta::json::object Take();

 private:
  meta::json::object Definition(const Node& node);
  meta::json::object Property(const Node& owner, const Field& field);
  /// Returns apiVersion, kind and metadata of a custom resource or of its list. Their texts are those of `like`, a type
  /// of meta/v1 that has the same fields.
  meta::json::object ResourceFields(std::string_view like, std::string_view metadata);
  /// Adds the text of a field, and gives the property the form that the version of OpenAPI requires.
  meta::json::object Finished(meta::json::object property, std::string_view owner, std::string_view field) const;
  meta::json::object Value(const Node& node);
  meta::json::object Link(std::string_view name) const;

  OpenApiVersion version_;
  const Schema& schema_;
  const DescriptionTexts& texts_;
  std::map<std::string, meta::json::object, std::less<>> definitions_;
};

}  // namespace apimesh::schema
