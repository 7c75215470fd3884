#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/core/componentstatus/componentstatus.h"
#include "services/core-api/groups/core/configmap/configmap.h"
#include "services/core-api/groups/core/endpoints/endpoints.h"
#include "services/core-api/groups/core/event/event.h"
#include "services/core-api/groups/core/limitrange/limitrange.h"
#include "services/core-api/groups/core/namespace/namespace.h"
#include "services/core-api/groups/core/node/node.h"
#include "services/core-api/groups/core/persistentvolume/persistentvolume.h"
#include "services/core-api/groups/core/persistentvolumeclaim/persistentvolumeclaim.h"
#include "services/core-api/groups/core/pod/binding/binding.h"
#include "services/core-api/groups/core/pod/pod.h"
#include "services/core-api/groups/core/podtemplate/podtemplate.h"
#include "services/core-api/groups/core/replicationcontroller/replicationcontroller.h"
#include "services/core-api/groups/core/resourcequota/resourcequota.h"
#include "services/core-api/groups/core/secret/secret.h"
#include "services/core-api/groups/core/service/service.h"
#include "services/core-api/groups/core/serviceaccount/serviceaccount.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {

std::vector<registry::Resource> CoreGroup(const KindInputs& inputs) {
  return {
      BindingResource(inputs),
      ComponentStatusResource(inputs),
      ConfigMapResource(inputs),
      EndpointsResource(inputs),
      CoreEventResource(inputs),
      LimitRangeResource(inputs),
      NamespaceResource(inputs),
      NodeResource(inputs),
      PersistentVolumeClaimResource(inputs),
      PersistentVolumeResource(inputs),
      PodResource(inputs),
      PodTemplateResource(inputs),
      ReplicationControllerResource(inputs),
      ResourceQuotaResource(inputs),
      SecretResource(inputs),
      ServiceAccountResource(inputs),
      ServiceResource(inputs),
  };
}

}  // namespace apimesh::core_api
