#pragma once

#include "lib/registry/resource.h"
#include "services/extensions-api/validations/lazy_rules.h"

namespace apimesh::extensions_api {

/// The behaviour of custom resources of one version. `node` belongs to a schema that outlives the strategy.
struct CustomStrategyOptions {
  meta::Gvk kind;
  const schema::Node* node = nullptr;
  bool has_status = false;  // the version has a status subresource
  std::optional<registry::ScalePaths> scale;
  std::shared_ptr<const LazyRules> rules;  // nullptr: the schema has no x-kubernetes-validations
  RuleMetrics metrics = {};
};
registry::StrategyPtr MakeCustomStrategy(CustomStrategyOptions options);
/// The strategy of /status: an update changes only the status.
registry::StrategyPtr MakeCustomStatusStrategy(CustomStrategyOptions options);

}  // namespace apimesh::extensions_api
