#pragma once

#include <optional>

#include "lib/meta/object.h"

/// What a bootstrap role or binding that exists already must become: it is extended, never reduced, and left alone where
/// its owner said so by the annotation rbac.authorization.kubernetes.io/autoupdate=false.
namespace apimesh::core_api {

/// nullopt: nothing to do.
std::optional<meta::Object> ReconcileRole(const meta::Object& existing, const meta::Object& wanted);

struct BindingChange {
  meta::Object object;
  bool recreate = false;  // the role it refers to differs, which can't be changed
};
std::optional<BindingChange> ReconcileBinding(const meta::Object& existing, const meta::Object& wanted);

/// Each single permission (one verb on one resource or path) of `wanted` that no rule of `owned` gives, as a rule.
meta::json::array UncoveredRules(const meta::json::array& owned, const meta::json::array& wanted);

}  // namespace apimesh::core_api
