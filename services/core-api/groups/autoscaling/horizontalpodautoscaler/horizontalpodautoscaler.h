#pragma once

#include "lib/registry/resource.h"

/// One object under two versions, stored as autoscaling/v2.
namespace apimesh::core_api {

registry::Resource HorizontalPodAutoscalerV1Resource();
registry::Resource HorizontalPodAutoscalerV2Resource();

}  // namespace apimesh::core_api
