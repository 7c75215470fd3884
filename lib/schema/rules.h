#pragma once

#include <re2/re2.h>

#include "lib/schema/schema.h"

namespace apimesh::schema {

/// What a custom resource's schema says about values beyond their structure. Nodes below anyOf and the like have Type::kAny:
/// they restrict what the structure already describes.
struct Node::Rules {
  bool typed = false;  // the schema names a type, so other types are errors
  bool nullable = false;
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
  boost::json::value validations;  // x-kubernetes-validations as they are: CEL rules run elsewhere
};

}  // namespace apimesh::schema
