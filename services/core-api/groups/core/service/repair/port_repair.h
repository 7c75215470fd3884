#pragma once

#include <map>
#include <string>
#include <vector>

#include "services/core-api/groups/core/service/port_bitmap.h"
#include "services/core-api/groups/core/service/repair/records.h"

namespace apimesh::core_api {

/// The ports that seem to be allocated to no service, with the number of checks after which they are released. A port
/// is allocated before its service is created, so a single check does not show that it has leaked.
using PortLeaks = std::map<std::int64_t, int>;

struct PortPlan {
  std::string bytes;  // the bitmap as it should be; see PortBitmap
  std::vector<RepairEvent> events;
};

/// Compares the stored bitmap with the ports of all services. Updates `leaks`, which must be empty at first and is
/// passed to each check.
PortPlan PlanPortRepair(const std::vector<ServiceRecord>& services, const PortRange& range, std::string stored,
                        PortLeaks& leaks);

}  // namespace apimesh::core_api
