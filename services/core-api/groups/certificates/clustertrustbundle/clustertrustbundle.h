#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

struct KindInputs;

/// The trust anchors of a signer, in certificates.k8s.io/v1beta1. v1alpha1 has the same fields.
registry::Resource ClusterTrustBundleResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
