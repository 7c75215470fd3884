#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/storage/csidriver/csidriver.h"
#include "services/core-api/groups/storage/csinode/csinode.h"
#include "services/core-api/groups/storage/csistoragecapacity/csistoragecapacity.h"
#include "services/core-api/groups/storage/storageclass/storageclass.h"
#include "services/core-api/groups/storage/volumeattachment/volumeattachment.h"
#include "services/core-api/groups/storage/volumeattributesclass/volumeattributesclass.h"
#include "services/core-api/resources/other_version.h"

namespace apimesh::core_api {

std::vector<registry::Resource> StorageGroup(const KindInputs& inputs) {
  const registry::Resource attributes_class = VolumeAttributesClassResource(inputs);
  return {
      CsiDriverResource(inputs),
      CsiNodeResource(inputs),
      CsiStorageCapacityResource(inputs),
      StorageClassResource(inputs),
      VolumeAttachmentResource(inputs),
      attributes_class,
      InVersion(attributes_class, "v1beta1"),
  };
}

}  // namespace apimesh::core_api
