#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/groups/storagemigration/storageversionmigration/storageversionmigration.h"

namespace apimesh::core_api {

std::vector<registry::Resource> StorageMigrationGroup(const KindInputs& inputs) {
  if (!inputs.features.Enabled(features::kStorageVersionMigrator)) return {};
  return {
      StorageVersionMigrationResource(inputs),
  };
}

}  // namespace apimesh::core_api
