#pragma once

#include <map>
#include <memory>

#include "lib/schema/schema.h"
#include "services/extensions-api/validations/rule.h"

namespace apimesh::extensions_api {

/// The rules of a schema and of the schemas below it, without the branches that have none. Immutable and thread-safe.
struct RuleTree {
  struct Rule {
    ValidationRule source;
    std::shared_ptr<const CompiledRule> compiled;
    std::string field_path;  // as errors show it
  };
  std::string type;  // of the schema: "object", or "" for x-kubernetes-int-or-string
  cel::ShapeRef shape;
  const schema::Node* node = nullptr;
  std::vector<Rule> rules;
  bool uses_old_self = false;  // whether one of the rules does
  std::map<std::string, RuleTree, std::less<>> properties;
  std::unique_ptr<const RuleTree> items, values;  // of a list, of a map

  bool Empty() const { return rules.empty() && properties.empty() && !items && !values; }
};

/// Compiles the rules of a schema; returns nullptr if it has none. `node` is the compiled schema, which must outlive
/// the result. `resource`: the schema is that of a custom resource. Equal rules of equal schemas share their programs,
/// also those of other versions and definitions.
std::shared_ptr<const RuleTree> CompileRules(const meta::json::object& schema, const schema::Node& node, bool resource);

}  // namespace apimesh::extensions_api
