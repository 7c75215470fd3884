#include "services/core-api/groups/core/group.h"

#include "services/core-api/groups/core/componentstatus/componentstatus.h"
#include "services/core-api/groups/core/configmap/configmap.h"
#include "services/core-api/groups/core/endpoints/endpoints.h"
#include "services/core-api/groups/core/event/event.h"
#include "services/core-api/groups/core/namespace/namespace.h"
#include "services/core-api/groups/core/node/node.h"
#include "services/core-api/groups/core/pod/pod.h"
#include "services/core-api/groups/core/secret/secret.h"
#include "services/core-api/groups/core/service/service.h"
#include "services/core-api/groups/core/serviceaccount/serviceaccount.h"

namespace apimesh::core_api {

std::vector<registry::Resource> CoreGroup() {
  return {
      ComponentStatusResource(),
      ConfigMapResource(),
      CoreEventResource(),
      EndpointsResource(),
      NamespaceResource(),
      NodeResource(),
      PodResource(),
      SecretResource(),
      ServiceResource(),
      ServiceAccountResource(),
  };
}

}  // namespace apimesh::core_api
