#include "services/core-api/groups/events/group.h"

#include "services/core-api/groups/core/event/event.h"

namespace apimesh::core_api {

std::vector<registry::Resource> EventsGroup() { return {EventResource()}; }

}  // namespace apimesh::core_api
