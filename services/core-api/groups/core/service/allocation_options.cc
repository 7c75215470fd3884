#include <stdexcept>

#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "services/core-api/groups/core/service/allocation.h"
#include "services/core-api/groups/kind_inputs.h"

namespace apimesh::core_api {
namespace {

std::vector<IpRange> ParseRanges(std::string_view cidrs) {
  std::vector<IpRange> ranges;
  for (const std::string& cidr : SplitList(cidrs)) {
    const std::optional<IpRange> range = IpRange::Parse(cidr);
    if (!range) throw std::invalid_argument(fmt::format("--service-cluster-ip-range: not a CIDR: {}", cidr));
    ranges.push_back(*range);
  }
  return ranges;
}

}  // namespace

AllocationOptions OptionsFrom(const KindInputs& inputs) {
  const std::string& ports = inputs.flags.service_node_port_range;
  const std::optional<PortRange> node_ports = PortRange::Parse(ports);
  if (!node_ports) throw std::invalid_argument("--service-node-port-range: not a range of ports: " + ports);
  AllocationOptions options;
  options.clock = inputs.clock;
  options.cidrs = ParseRanges(inputs.flags.service_cluster_ip_range);
  options.node_ports = *node_ports;
  options.ip_addresses = inputs.StoreOf({"networking.k8s.io", "v1", "ipaddresses"});
  options.service_cidrs = inputs.StoreOf({"networking.k8s.io", "v1", "servicecidrs"});
  options.ranges = inputs.PrivateStore(RangesConfig());
  return options;
}

}  // namespace apimesh::core_api
