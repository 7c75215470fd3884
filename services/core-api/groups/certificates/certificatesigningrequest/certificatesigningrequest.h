#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

struct KindInputs;

/// A request for a certificate. Its spec is immutable; the fields that name the requester are set from the
/// authenticated user only. Approval and certificate have separate subresources, so that they can be authorized
/// separately.
registry::Resource CertificateSigningRequestResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
