#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// The annotation that named the class of an Ingress before spec.ingressClassName existed.
inline constexpr std::string_view kIngressClass = "kubernetes.io/ingress.class";

/// Validates an Ingress. `old` is nullptr on creation; errors that the stored object already has are accepted where
/// kube-apiserver accepts them.
meta::FieldErrors ValidateIngress(const meta::Object& ingress, const meta::Object* old);
meta::FieldErrors ValidateIngressStatus(const meta::Object& ingress, const meta::Object& old);

}  // namespace apimesh::core_api
