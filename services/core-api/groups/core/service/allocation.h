#pragma once

#include <memory>
#include <vector>

#include "lib/registry/resource.h"
#include "lib/storage/store.h"
#include "services/core-api/groups/core/service/ip_range.h"
#include "services/core-api/groups/core/service/port_bitmap.h"

/// Allocation of addresses and node ports for Services. It is safe with several replicas and with kube-apiserver on the
/// same etcd: an address is allocated by creating its IPAddress, a port by compare-and-swap on the one object that
/// holds all ports, as in kube-apiserver.
namespace apimesh::core_api {

struct KindInputs;

struct AllocationOptions {
  std::vector<IpRange> cidrs;  // one range, or two of different families; the first is the default
  PortRange node_ports;
  storage::StorePtr ip_addresses;
  storage::StorePtr service_cidrs;  // may be nullptr; then `cidrs` are the only ranges
  storage::StorePtr ranges;         // see RangesConfig()
  const Clock* clock = nullptr;
};

/// Returns the configuration of the store of RangeAllocations, which clients cannot access.
storage::ResourceConfig RangesConfig();

/// Returns the options from --service-cluster-ip-range and --service-node-port-range. Throws std::invalid_argument if
/// one of them cannot be parsed.
AllocationOptions OptionsFrom(const KindInputs& inputs);

std::shared_ptr<registry::Hooks> MakeServiceHooks(AllocationOptions options);

}  // namespace apimesh::core_api
