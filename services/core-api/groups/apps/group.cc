#include "services/core-api/groups/apps/group.h"

#include "services/core-api/groups/apps/daemonset/daemonset.h"
#include "services/core-api/groups/apps/deployment/deployment.h"
#include "services/core-api/groups/apps/replicaset/replicaset.h"
#include "services/core-api/groups/apps/statefulset/statefulset.h"

namespace apimesh::core_api {

std::vector<registry::Resource> AppsGroup() {
  return {
      DaemonSetResource(),
      DeploymentResource(),
      ReplicaSetResource(),
      StatefulSetResource(),
  };
}

}  // namespace apimesh::core_api
