#include "services/core-api/groups/core/group.h"

#include "services/core-api/groups/core/configmap/configmap.h"
#include "services/core-api/groups/core/namespace/namespace.h"
#include "services/core-api/groups/core/pod/pod.h"
#include "services/core-api/groups/core/secret/secret.h"

namespace apimesh::core_api {

std::vector<registry::Resource> CoreGroup() {
  return {
      ConfigMapResource(),
      NamespaceResource(),
      PodResource(),
      SecretResource(),
  };
}

}  // namespace apimesh::core_api
