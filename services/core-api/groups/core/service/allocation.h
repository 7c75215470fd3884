#pragma once

#include <memory>
#include <vector>

#include "lib/registry/resource.h"
#include "lib/storage/store.h"
#include "services/core-api/groups/core/service/ip_range.h"
#include "services/core-api/groups/core/service/port_bitmap.h"

/// Addresses and node ports of Services. Safe with many replicas: an address is taken by creating its IPAddress, a port by
/// compare-and-swap on the one object that holds all ports, as kube-apiserver does (they may share an etcd).
namespace apimesh::core_api {

struct AllocationOptions {
  std::vector<IpRange> cidrs;  // one, or two of different families; the first is the default
  PortRange node_ports;
  storage::StorePtr ip_addresses;
  storage::StorePtr ranges;  // see RangesConfig()
};

/// The store of RangeAllocations, which is no resource that clients see.
storage::ResourceConfig RangesConfig();

std::shared_ptr<registry::Hooks> MakeServiceHooks(AllocationOptions options);

}  // namespace apimesh::core_api
