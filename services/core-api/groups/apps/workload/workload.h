#pragma once

#include <vector>

#include "lib/registry/status_strategy.h"
#include "services/core-api/validation/count_or_percent.h"
#include "services/core-api/validation/spec_fields.h"

/// Code that the workloads of the group apps share.
namespace apimesh::core_api {

/// Rules for the numbers in a status.
struct StatusRules {
  struct Bound {
    const char* field;
    const char* limit;
    const char* message;
  };
  std::vector<const char*> non_negative;
  std::vector<Bound> at_most;
  /// status.collisionCount must not decrease.
  bool counts_collisions = false;
};

class WorkloadStatusStrategy final : public registry::StatusStrategy {
 public:
  WorkloadStatusStrategy(registry::StrategyPtr base, StatusRules rules, registry::KeptMetadata kept = {})
      : StatusStrategy(std::move(base), std::move(kept)), rules_(std::move(rules)) {}
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object& old) const override;

 private:
  StatusRules rules_;
};

}  // namespace apimesh::core_api
