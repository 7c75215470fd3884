#pragma once

#include "lib/meta/errors/field_error.h"
#include "services/extensions-api/crd/conditions.h"

/// Groups of the Kubernetes community (k8s.io, kubernetes.io and their subdomains) need an annotation that refers to
/// their approval.
namespace apimesh::extensions_api {

/// Returns the condition KubernetesAPIApprovalPolicyConformant; `type` is empty for other groups.
Condition ApprovalCondition(const meta::Object& crd);
/// `old` may be nullptr. A violation that existed before and has not changed is accepted.
meta::FieldErrors ValidateApproval(const meta::Object& crd, const meta::Object* old);

}  // namespace apimesh::extensions_api
