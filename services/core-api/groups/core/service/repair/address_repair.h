#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/core-api/groups/core/service/ip_range.h"
#include "services/core-api/groups/core/service/repair/records.h"

/// The rules by which cluster IPs and IPAddresses are brought into agreement: every cluster IP has an IPAddress that
/// refers to its service, and every IPAddress of the allocator belongs to a service. They disagree after a crash
/// between two writes, or after a client has changed one of them.
namespace apimesh::core_api {

struct AddressChange {
  enum class Kind { kCreate, kReplace, kDelete };
  Kind kind;
  std::string ip;
  std::string old_uid;                     // kReplace, kDelete: the IPAddress to delete
  const ServiceRecord* service = nullptr;  // kCreate, kReplace: the service to which the address is allocated
  std::optional<RepairEvent> event;        // reported if the change is made
};

struct AddressPlan {
  std::vector<AddressChange> changes;
  std::vector<RepairEvent> events;  // about what cannot be repaired
  /// When the state should be checked again, because an IPAddress may belong to a service that is being created.
  std::optional<WallTime> check_again;
};

/// `ranges` are those of all ServiceCIDRs. The services must outlive the plan.
AddressPlan PlanAddressRepair(const std::vector<ServiceRecord>& services, const std::vector<AddressRecord>& addresses,
                              const std::vector<IpRange>& ranges, WallTime now);

}  // namespace apimesh::core_api
