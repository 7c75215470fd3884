#pragma once

#include "lib/base/clock.h"
#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

meta::FieldErrors ValidatePodCertificateRequest(const meta::Object& request);

/// Validates an update of the status, which is allowed once: it denies or fails the request, or adds the certificate.
/// The spec of `request` must be that of `old`.
meta::FieldErrors ValidatePodCertificateStatus(const meta::Object& request, const meta::Object& old, WallTime now);

}  // namespace apimesh::core_api
