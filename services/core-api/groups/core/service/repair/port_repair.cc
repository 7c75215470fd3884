#include "services/core-api/groups/core/service/repair/port_repair.h"

#include <set>

#include <fmt/format.h>

namespace apimesh::core_api {
namespace {

/// How many checks must find a leaked port before it is released.
constexpr int kChecksBeforeRelease = 3;

/// Returns the ports of a service. A port that appears twice with the same protocol is returned twice, because the two
/// conflict.
std::vector<std::int64_t> PortsOf(const ServiceRecord& service) {
  std::vector<std::int64_t> ports;
  std::map<std::int64_t, std::set<std::string_view>> protocols;
  for (const ServiceRecord::Port& port : service.ports) {
    std::set<std::string_view>& seen = protocols[port.node_port];
    const bool first = seen.empty(), repeated = !seen.insert(port.protocol).second;
    if (first || repeated) ports.push_back(port.node_port);
  }
  if (const std::int64_t port = service.health_check_port; port != 0) {
    const auto seen = protocols.find(port);
    if (seen == protocols.end() || seen->second.contains("TCP")) ports.push_back(port);
  }
  return ports;
}

}  // namespace

PortPlan PlanPortRepair(const std::vector<ServiceRecord>& services, const PortRange& range, std::string stored_bytes,
                        PortLeaks& leaks) {
  PortPlan plan;
  PortBitmap stored(range, std::move(stored_bytes)), rebuilt(range, "");
  for (const ServiceRecord& service : services) {
    const auto warn = [&](const char* reason, std::string note) {
      plan.events.push_back({service.reference, reason, "PortAllocation", std::move(note)});
    };
    for (const std::int64_t port : PortsOf(service)) {
      if (!range.Contains(port)) {
        warn("PortOutOfRange",
             fmt::format("Port {} is not within the port range {}; please recreate service", port, range.ToString()));
      } else if (rebuilt.Taken(port)) {
        warn("PortAlreadyAllocated",
             fmt::format("Port {} was assigned to multiple services; please recreate service", port));
      } else {
        rebuilt.Set(port, true);
        if (!stored.Taken(port)) warn("PortNotAllocated", fmt::format("Port {} is not allocated; repairing", port));
        stored.Set(port, false);
        leaks.erase(port);
      }
    }
  }
  PortLeaks still_leaked;
  for (std::int64_t port = range.first; port < range.first + range.size; ++port) {
    if (!stored.Taken(port)) continue;
    const auto known = leaks.find(port);
    const int checks_left = known == leaks.end() ? kChecksBeforeRelease - 1 : known->second;
    if (checks_left <= 0) continue;
    still_leaked[port] = checks_left - 1;
    rebuilt.Set(port, true);
  }
  leaks = std::move(still_leaked);
  plan.bytes = rebuilt.Bytes();
  return plan;
}

}  // namespace apimesh::core_api
