#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// A request for a certificate. Its spec is fixed at creation, and says who asked: that part comes from the authenticated
/// user only. Approval and certificate have a subresource each, so that one can be allowed without the other.
registry::Resource CertificateSigningRequestResource();

}  // namespace apimesh::core_api
