#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/autoscaling/horizontalpodautoscaler/horizontalpodautoscaler.h"

namespace apimesh::core_api {

std::vector<registry::Resource> AutoscalingGroup(const KindInputs& inputs) {
  return {
      HorizontalPodAutoscalerV1Resource(inputs),
      HorizontalPodAutoscalerV2Resource(inputs),
  };
}

}  // namespace apimesh::core_api
