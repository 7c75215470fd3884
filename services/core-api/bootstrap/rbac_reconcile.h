#pragma once

#include <optional>

#include "lib/meta/object.h"

/// Reconciliation of bootstrap roles and bindings that exist already. Missing rules, subjects, labels and annotations
/// are added, and nothing is removed unless a binding must be created again. An object with the annotation
/// rbac.authorization.kubernetes.io/autoupdate=false is not changed.
namespace apimesh::core_api {

/// Returns the role to write, or nullopt if nothing has to change. ReconcileBinding() does the same for a binding.
std::optional<meta::Object> ReconcileRole(const meta::Object& existing, const meta::Object& wanted);

struct BindingChange {
  meta::Object object;
  bool recreate = false;  // roleRef differs and is immutable, so the binding must be deleted and created again
};
std::optional<BindingChange> ReconcileBinding(const meta::Object& existing, const meta::Object& wanted);

/// Returns the permissions of `wanted` that no rule of `owned` grants, as one rule per permission (one verb on one
/// resource or path).
meta::json::array UncoveredRules(const meta::json::array& owned, const meta::json::array& wanted);

}  // namespace apimesh::core_api
