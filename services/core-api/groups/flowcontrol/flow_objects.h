#pragma once

#include "lib/registry/status_strategy.h"
#include "services/core-api/bootstrap/data.h"
#include "services/core-api/validation/check.h"

/// What FlowSchemas and PriorityLevelConfigurations have in common.
namespace apimesh::core_api {

/// Returns the spec that this object must have because priority and fairness depends on it: the objects named "exempt"
/// and "catch-all". Returns nullptr for other names.
const meta::json::object* MandatorySpec(BootstrapFile file, std::string_view name);

/// Validates the conditions of a status: each has a type, and no type occurs twice.
void ValidateFlowConditions(const meta::Object& object, meta::FieldErrors& errors);

/// The strategy of /status. A write changes nothing but the status.
class FlowStatusStrategy final : public registry::StatusStrategy {
 public:
  explicit FlowStatusStrategy(registry::StrategyPtr base) : StatusStrategy(std::move(base), registry::AllMetadata()) {}
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object& old) const override;
};

/// Gives a resource its strategy of /status.
void SetFlowStatus(registry::Resource& resource);

}  // namespace apimesh::core_api
