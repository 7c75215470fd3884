#pragma once

#include "services/core-api/bootstrap/gate.h"
#include "services/core-api/bootstrap/local_api.h"

/// Objects that come from data/bootstrap. Each function returns when all of them are there.
namespace apimesh::core_api {

/// Cluster roles and bindings at once, roles and their bindings as soon as the system namespaces are there.
Task<> EnsureRbacPolicy(LocalApiPtr api, std::shared_ptr<Gate> namespaces);
Task<> EnsurePriorityClasses(LocalApiPtr api);
/// Flow schemas and priority levels: those of the system always have their spec, the others as long as nobody took them over.
Task<> EnsureFlowControl(LocalApiPtr api);

/// The spec a flow schema or priority level that exists must get; nullopt: it stays as it is.
std::optional<meta::Object> ReconcileFlowControl(const meta::Object& existing, const meta::Object& wanted);

}  // namespace apimesh::core_api
