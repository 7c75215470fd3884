#include "services/core-api/groups/resource/resourceslice/resourceslice.h"

#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {

registry::Resource ResourceSliceResource() {
  registry::Resource resource = FromTable("resource.k8s.io", "v1", "resourceslices");
  // A node may list, watch and delete slices only with a selector for its own name.
  resource.selectable_fields = {"spec.driver", "spec.nodeName"};
  return resource;
}

}  // namespace apimesh::core_api
