#pragma once

#include <memory>

#include "lib/features/feature_gates.h"
#include "services/core-api/validation/check.h"

namespace apimesh::core_api {

/// The rules of the field "selectors" of requests and device classes: CEL expressions about the variable `device`,
/// which the scheduler evaluates. They are compiled, and their greatest cost is estimated.
class DeviceSelectorRules {
 public:
  /// Whether an expression is new, or a server with this version or a later one has stored it already.
  enum class Origin { kNew, kStored };

  explicit DeviceSelectorRules(const features::FeatureGates& features);
  void Validate(const Check& holder, Origin origin) const;

 private:
  class Device;
  void ValidateExpression(const Check& selector, Origin origin) const;

  std::shared_ptr<const Device> device_;
  bool dynamic_;  // whether an expression may have the type dyn
};

}  // namespace apimesh::core_api
