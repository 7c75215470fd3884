#pragma once

#include "lib/registry/resource.h"

namespace apimesh::extensions_api {

/// How custom resources of one version behave. `node` belongs to a schema that outlives the strategy.
struct CustomStrategyOptions {
  meta::Gvk kind;
  const schema::Node* node = nullptr;
  bool has_status = false;  // a status subresource
  std::optional<registry::ScalePaths> scale;
};
registry::StrategyPtr MakeCustomStrategy(CustomStrategyOptions options);
/// Of /status: everything but the status is kept.
registry::StrategyPtr MakeCustomStatusStrategy(CustomStrategyOptions options);

}  // namespace apimesh::extensions_api
