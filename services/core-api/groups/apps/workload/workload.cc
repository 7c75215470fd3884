#include "services/core-api/groups/apps/workload/workload.h"

#include <fmt/format.h>

#include "services/core-api/groups/columns.h"

namespace apimesh::core_api {
meta::FieldErrors WorkloadStatusStrategy::ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                                         const meta::Object& old) const {
  meta::FieldErrors errors;
  const Check status = StatusOf(object, errors);
  for (const char* field : rules_.non_negative) status.NonNegative(field);
  for (const StatusRules::Bound& bound : rules_.at_most) {
    if (status.Number(bound.field).value_or(0) > status.Number(bound.limit).value_or(0)) {
      errors.push_back(meta::Invalid(status.Path().Child(bound.field).ToString(),
                                     fmt::format("{}", status.Number(bound.field).value_or(0)), bound.message));
    }
  }
  if (rules_.counts_collisions) {
    const std::optional<std::int64_t> now = status.Number("collisionCount");
    const meta::json::value* before = meta::Find(old.Root(), "status", "collisionCount");
    if (before && before->is_int64() && (!now || *now < before->get_int64())) {
      errors.push_back(
          meta::Invalid("status.collisionCount", fmt::format("{}", now.value_or(0)), "cannot be decremented"));
    }
  }
  return errors;
}

}  // namespace apimesh::core_api
