#include "services/core-api/groups/core/service/repair/address_repair.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "services/core-api/groups/core/service/service_ranges.h"
#include "services/core-api/validation/ip_rules.h"

namespace apimesh::core_api {
namespace {

using std::chrono::seconds;

/// The longest time from the allocation of an address to the creation of its service: the timeout of requests.
constexpr seconds kGracePeriod{60};
/// Within this time, a create that has failed releases its address.
constexpr seconds kRevertPeriod{5};

class Planner {
 public:
  Planner(const std::vector<ServiceRecord>& services, const std::vector<AddressRecord>& addresses,
          const std::vector<IpRange>& ranges, WallTime now)
      : ranges_(ranges), now_(now) {
    for (const ServiceRecord& service : services)
      services_.emplace(std::pair(service.reference.ns, service.reference.name), &service);
    for (const AddressRecord& address : addresses) addresses_.emplace(address.reference.name, &address);
  }

  AddressPlan Run() {
    for (const auto& [name, service] : services_) {
      for (const std::string& ip : service->ips) CheckClusterIp(*service, ip);
    }
    for (const auto& [ip, address] : addresses_) CheckAddress(*address);
    return std::move(plan_);
  }

 private:
  const ServiceRecord* Parent(const AddressRecord& address) const {
    const auto found = services_.find(std::pair(address.parent_ns, address.parent_name));
    return found == services_.end() ? nullptr : found->second;
  }

  static bool Has(const ServiceRecord& service, std::string_view ip) {
    return std::find(service.ips.begin(), service.ips.end(), ip) != service.ips.end();
  }

  void CheckClusterIp(const ServiceRecord& service, const std::string& ip) {
    const auto event = [&](const char* reason, std::string note) {
      return RepairEvent{service.reference, reason, "ClusterIPAllocation", std::move(note)};
    };
    const std::string_view family = IpFamilyOf(ip);
    if (family.empty()) {
      plan_.events.push_back({service.reference, "ClusterIPNotValid", "ClusterIPValidation",
                              fmt::format("Cluster IP {} is not a valid IP; please recreate Service", ip)});
      return;
    }
    if (!AnyContains(ranges_, ip)) {
      plan_.events.push_back(
          event("ClusterIPOutOfRange",
                fmt::format("Cluster IP [{}]: {} is not within any configured Service CIDR; please recreate service",
                            family, ip)));
      return;
    }
    const auto found = addresses_.find(ip);
    if (found == addresses_.end()) {
      plan_.changes.push_back(
          {AddressChange::Kind::kCreate, ip, "", &service,
           event("ClusterIPNotAllocated", fmt::format("Cluster IP [{}]: {} is not allocated; repairing", family, ip))});
      return;
    }
    const AddressRecord& address = *found->second;
    const bool own = address.of_service && address.parent_ns == service.reference.ns &&
                     address.parent_name == service.reference.name;
    const ServiceRecord* parent = address.of_service ? Parent(address) : nullptr;
    if (!own && !parent) {
      Replace(address, service,
              event("ClusterIPNotAllocated",
                    fmt::format("the ClusterIP [{}]: {} for Service {}/{} has a wrong reference; repairing", family, ip,
                                service.reference.ns, service.reference.name)));
      return;
    }
    if (!own && Has(*parent, ip)) {
      plan_.events.push_back(event(
          "ClusterIPAlreadyAllocated",
          fmt::format("Cluster IP [{}]:{} was assigned to multiple services; please recreate service", family, ip)));
      return;
    }
    if (!own || !address.labelled) Replace(address, service, std::nullopt);
  }

  void Replace(const AddressRecord& address, const ServiceRecord& service, std::optional<RepairEvent> event) {
    plan_.changes.push_back(
        {AddressChange::Kind::kReplace, address.reference.name, address.reference.uid, &service, std::move(event)});
    replaced_.insert(address.reference.name);
  }

  void Delete(const AddressRecord& address, std::string reason, std::string note) {
    plan_.changes.push_back(
        {AddressChange::Kind::kDelete, address.reference.name, address.reference.uid, nullptr,
         RepairEvent{address.reference, std::move(reason), "IPAddressAllocation", std::move(note)}});
  }

  void CheckAt(WallTime time) { plan_.check_again = std::min(plan_.check_again.value_or(time), time); }

  void CheckAddress(const AddressRecord& address) {
    const std::string& ip = address.reference.name;
    if (!address.managed || replaced_.contains(ip)) return;
    if (!address.of_service) {
      Delete(address, "IPAddressNotAllocated",
             fmt::format("IPAddress {} appears to have been modified, not referencing a Service {}: cleaning up", ip,
                         address.parent));
      return;
    }
    const ServiceRecord* service = Parent(address);
    // An address is allocated before its service is created, or becomes one that needs an address.
    if (!service || service->type == "ExternalName") {
      if (now_ - address.created <= kGracePeriod) return CheckAt(address.created + kGracePeriod + seconds(1));
      if (!service) {
        Delete(address, "IPAddressNotAllocated",
               fmt::format("IPAddress: {} for Service {}/{} appears to have leaked: cleaning up", ip, address.parent_ns,
                           address.parent_name));
        return;
      }
    }
    if (Has(*service, ip)) return;
    // A create of a service that exists already fails and releases the address.
    if (address.created > service->created && now_ - address.created < kRevertPeriod)
      return CheckAt(address.created + kRevertPeriod);
    Delete(address, "IPAddressWrongReference",
           fmt::format("IPAddress: {} for Service {}/{} has a wrong reference; cleaning up", ip, service->reference.ns,
                       service->reference.name));
  }

  const std::vector<IpRange>& ranges_;
  const WallTime now_;
  std::map<std::pair<std::string, std::string>, const ServiceRecord*> services_;
  std::map<std::string, const AddressRecord*, std::less<>> addresses_;
  std::set<std::string> replaced_;
  AddressPlan plan_;
};

}  // namespace

AddressPlan PlanAddressRepair(const std::vector<ServiceRecord>& services, const std::vector<AddressRecord>& addresses,
                              const std::vector<IpRange>& ranges, WallTime now) {
  return Planner(services, addresses, ranges, now).Run();
}

}  // namespace apimesh::core_api
