#pragma once

#include "lib/registry/status_strategy.h"
#include "services/core-api/validation/check.h"

namespace apimesh::core_api {

/// Validates the field "conditions" of a status whose items are metav1.Conditions.
void ValidateConditions(const Check& status);

/// Base class of the strategies of /status for kinds with metav1.Conditions. An update validates the conditions, and
/// then the other fields, independently of the stored status.
class ConditionsStatusStrategy : public registry::StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object& old) const final;

 private:
  /// Adds the errors of the other fields to `status`.
  virtual void ValidateOtherFields(const Check& status, const meta::Object& object) const = 0;
};

}  // namespace apimesh::core_api
