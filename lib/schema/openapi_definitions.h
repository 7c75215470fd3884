#pragma once

#include <map>
#include <set>

#include "lib/schema/openapi.h"

namespace apimesh::schema {

enum class OpenApiVersion { kV2, kV3 };

/// Collects the definitions that a document needs, following references.
class OpenApiDefinitions {
 public:
  OpenApiDefinitions(OpenApiVersion version, const Schema& schema) : version_(version), schema_(schema) {}

  /// {"$ref": …} to a definition, which is added with everything it refers to.
  meta::json::object Reference(const Node& node);
  meta::json::object Reference(std::string_view definition);
  void AddCustom(const OpenApiResource& resource);

  /// All definitions by name, sorted.
  meta::json::object Take();

 private:
  meta::json::object Definition(const Node& node);
  meta::json::object Property(const Field& field);
  meta::json::object Value(const Node& node);
  meta::json::object Link(std::string_view name) const;

  OpenApiVersion version_;
  const Schema& schema_;
  std::map<std::string, meta::json::object, std::less<>> definitions_;
};

}  // namespace apimesh::schema
