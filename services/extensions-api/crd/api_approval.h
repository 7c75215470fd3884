#pragma once

#include "lib/meta/field_error.h"
#include "services/extensions-api/crd/conditions.h"

/// Groups of the Kubernetes community (k8s.io, kubernetes.io and what is below them) need an annotation that says who approved them.
namespace apimesh::extensions_api {

/// KubernetesAPIApprovalPolicyConformant; empty `type` for other groups.
Condition ApprovalCondition(const meta::Object& crd);
/// `old` may be nullptr. What was wrong before and has not changed may stay.
meta::FieldErrors ValidateApproval(const meta::Object& crd, const meta::Object* old);

}  // namespace apimesh::extensions_api
