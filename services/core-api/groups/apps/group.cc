#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/apps/controllerrevision/controllerrevision.h"
#include "services/core-api/groups/apps/daemonset/daemonset.h"
#include "services/core-api/groups/apps/deployment/deployment.h"
#include "services/core-api/groups/apps/replicaset/replicaset.h"
#include "services/core-api/groups/apps/statefulset/statefulset.h"

namespace apimesh::core_api {

std::vector<registry::Resource> AppsGroup(const KindInputs& inputs) {
  return {
      ControllerRevisionResource(inputs), DaemonSetResource(inputs),   DeploymentResource(inputs),
      ReplicaSetResource(inputs),         StatefulSetResource(inputs),
  };
}

}  // namespace apimesh::core_api
