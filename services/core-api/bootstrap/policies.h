#pragma once

#include "lib/features/feature_gates.h"
#include "services/core-api/bootstrap/gate.h"
#include "services/core-api/bootstrap/local_api.h"

/// Creates and updates the objects of data/bootstrap. Each function returns when all objects were processed; failures
/// are logged.
namespace apimesh::core_api {

/// Processes cluster roles and their bindings immediately, and roles and role bindings when the system namespaces
/// exist.
Task<> EnsureRbacPolicy(LocalApiPtr api, std::shared_ptr<Gate> namespaces, features::FeatureGates gates);
Task<> EnsurePriorityClasses(LocalApiPtr api);
/// Creates and updates flow schemas and priority levels. The spec of the mandatory objects ("exempt", "catch-all") is
/// always restored. The spec of the others is updated unless a user has taken over the object; see
/// ReconcileFlowControl().
Task<> EnsureFlowControl(LocalApiPtr api);

/// Returns the existing flow schema or priority level with the spec of `wanted`, or nullopt if it must not or need not
/// change. A user takes over an object that is not mandatory by setting the annotation
/// apf.kubernetes.io/autoupdate-spec to a value other than "true", or by changing the spec of an object without this
/// annotation.
std::optional<meta::Object> ReconcileFlowControl(const meta::Object& existing, const meta::Object& wanted);

}  // namespace apimesh::core_api
