#include "services/core-api/groups/all_groups.h"
#include "services/core-api/groups/core/event/event.h"

namespace apimesh::core_api {

std::vector<registry::Resource> EventsGroup(const KindInputs& inputs) {
  return {
      EventResource(inputs),
  };
}

}  // namespace apimesh::core_api
