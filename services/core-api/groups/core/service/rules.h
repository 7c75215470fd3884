#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Validates a Service whose addresses and ports are allocated. `old` is the state before an update; its addresses are
/// accepted as they are.
meta::FieldErrors ValidateService(const meta::Object& service, const meta::Object* old = nullptr);
/// Checks that immutable fields do not change, then calls ValidateService().
meta::FieldErrors ValidateServiceUpdate(const meta::Object& service, const meta::Object& old);
/// Checks the rules that must hold before addresses are allocated.
meta::FieldErrors ValidateClusterIps(const meta::Object& service, const meta::Object* old = nullptr);
/// Validates status.loadBalancer.
meta::FieldErrors ValidateServiceStatus(const meta::Object& service, const meta::Object& old);

}  // namespace apimesh::core_api
