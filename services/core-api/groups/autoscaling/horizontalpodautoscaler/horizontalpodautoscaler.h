#pragma once

#include "lib/registry/resource.h"

/// HorizontalPodAutoscalers are served in two versions, and stored as autoscaling/v2.
namespace apimesh::core_api {

struct KindInputs;

registry::Resource HorizontalPodAutoscalerV1Resource(const KindInputs& inputs);
registry::Resource HorizontalPodAutoscalerV2Resource(const KindInputs& inputs);

}  // namespace apimesh::core_api
