#pragma once

#include <vector>

#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/check.h"

/// What the workloads of apps have in common.
namespace apimesh::core_api {

/// The spec of an object with the place its complaints go to; an empty one if there is none.
Check SpecOf(const meta::Object& object, meta::FieldErrors& errors);

/// spec.selector: there, well formed and not empty; `kind` as the message names it.
void ValidateSelector(const Check& spec, std::string_view kind);
/// A field that an update may not change.
void ValidateImmutable(std::string_view field, const Check& spec, const meta::Object& old);

/// A number of pods or a percentage of them, in an int-or-string field.
void ValidateCountOrPercent(const Check& holder, std::string_view field);
void ValidateAtMostAll(const Check& holder, std::string_view field);
/// The number of a count or percentage; 0 if there is none.
std::int64_t CountOrPercent(const Check& holder, std::string_view field);

/// What must hold between the numbers of a status.
struct StatusRules {
  struct Bound {
    const char* field;
    const char* limit;
    const char* message;
  };
  std::vector<const char*> non_negative;
  std::vector<Bound> at_most;
  /// status.collisionCount never goes down.
  bool counts_collisions = false;
};

class WorkloadStatusStrategy final : public registry::StatusStrategy {
 public:
  WorkloadStatusStrategy(registry::StrategyPtr base, StatusRules rules) : StatusStrategy(std::move(base)), rules_(std::move(rules)) {}
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object, const meta::Object& old) const override;

 private:
  StatusRules rules_;
};

}  // namespace apimesh::core_api
