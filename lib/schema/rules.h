#pragma once

#include <re2/re2.h>

#include "lib/schema/schema.h"
#include "lib/schema/values/formats.h"

namespace apimesh::schema {

/// The validation rules of a custom resource's schema for values, beyond their structure. Nodes below anyOf, oneOf,
/// allOf and not have Type::kAny: they restrict values whose structure is already described.
struct Node::Rules {
  bool typed = false;  // the schema specifies a type, so values of other types are errors
  bool nullable = false;
  Format format = Format::kNone;  // kNone if the schema specifies none, or one that kube-apiserver ignores
  std::optional<double> minimum, maximum, multiple_of;
  bool exclusive_minimum = false, exclusive_maximum = false;
  std::optional<std::int64_t> min_length, max_length, min_items, max_items, min_properties, max_properties;
  bool unique_items = false;
  std::string pattern;
  std::shared_ptr<const re2::RE2> compiled_pattern;
  std::vector<boost::json::value> enums;
  std::vector<std::string> required;
  std::vector<const Node*> all_of, any_of, one_of;
  const Node* not_of = nullptr;
  /// The rules for the metadata of a resource, which may restrict name and generateName; nullptr if there are none. The
  /// field itself has the schema of the built-in kinds.
  const Node* metadata = nullptr;
};

}  // namespace apimesh::schema
