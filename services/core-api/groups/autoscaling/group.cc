#include "services/core-api/groups/autoscaling/group.h"

#include "services/core-api/groups/autoscaling/horizontalpodautoscaler/horizontalpodautoscaler.h"

namespace apimesh::core_api {

std::vector<registry::Resource> AutoscalingGroup() { return {HorizontalPodAutoscalerV1Resource(), HorizontalPodAutoscalerV2Resource()}; }

}  // namespace apimesh::core_api
