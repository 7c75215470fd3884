#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

struct KindInputs;

/// Requests of kubelets for certificates of pods, in certificates.k8s.io/v1beta1. The spec cannot change. The status
/// changes once, by a user who may sign for the signer.
registry::Resource PodCertificateRequestResource(const KindInputs& inputs);

}  // namespace apimesh::core_api
