#pragma once

#include <vector>

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// The kinds of certificates.k8s.io that have behaviour of their own.
std::vector<registry::Resource> CertificatesGroup();

}  // namespace apimesh::core_api
