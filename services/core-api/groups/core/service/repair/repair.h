#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "lib/base/async/task.h"
#include "services/core-api/groups/core/service/allocation.h"
#include "services/core-api/groups/core/service/repair/address_repair.h"
#include "services/core-api/groups/core/service/repair/port_repair.h"
#include "services/core-api/own_api.h"

namespace apimesh::core_api {

/// Releases addresses and node ports that belong to no service, and allocates those of services that are not allocated.
/// Every process that serves Services runs it, as every kube-apiserver does.
class ServiceRepair {
 public:
  struct Options {
    AllocationOptions allocation;
    storage::StorePtr services;
    SendObject send;  // creates events; may be empty
    std::string host;
  };
  explicit ServiceRepair(Options options) : options_(std::move(options)) {}

  /// Checks addresses and ports once. Returns the time at which the next check of addresses is needed, if that is
  /// sooner than usual.
  Task<std::optional<WallTime>> Run();
  /// Checks only the addresses.
  Task<std::optional<WallTime>> RunAddresses();

 private:
  Task<std::optional<WallTime>> RepairAddresses(const std::vector<ServiceRecord>& services,
                                                const std::vector<AddressRecord>& addresses);
  Task<> RepairPorts();
  /// Makes one change, if the newest state of the objects still requires it.
  Task<bool> Make(const AddressChange& change);
  Task<> Report(RepairEvent event, std::string controller);
  Task<meta::Result<std::vector<ServiceRecord>>> Services();
  Task<meta::Result<std::vector<AddressRecord>>> Addresses();
  meta::RequestContext Context() const;

  const Options options_;
  PortLeaks leaks_;
};

}  // namespace apimesh::core_api
