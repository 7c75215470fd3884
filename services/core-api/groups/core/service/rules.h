#pragma once

#include "lib/meta/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Rules of Services; addresses and ports are given out already. `old` is the state before an update, whose addresses may stay as
/// they are written.
meta::FieldErrors ValidateService(const meta::Object& service, const meta::Object* old = nullptr);
/// What an update may not change, then the above.
meta::FieldErrors ValidateServiceUpdate(const meta::Object& service, const meta::Object& old);
/// The rules that must hold before addresses are given out.
meta::FieldErrors ValidateClusterIps(const meta::Object& service, const meta::Object* old = nullptr);
/// Rules of status.loadBalancer.
meta::FieldErrors ValidateServiceStatus(const meta::Object& service, const meta::Object& old);

}  // namespace apimesh::core_api
