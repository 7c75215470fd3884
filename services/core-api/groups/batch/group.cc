#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/batch/cronjob/cronjob.h"
#include "services/core-api/groups/batch/job/job.h"

namespace apimesh::core_api {

std::vector<registry::Resource> BatchGroup(const KindInputs& inputs) {
  return {
      CronJobResource(inputs),
      JobResource(inputs),
  };
}

}  // namespace apimesh::core_api
