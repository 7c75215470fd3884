#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/base/task.h"
#include "lib/rpc/delegate.h"

namespace apimesh::aggregator {

struct ServiceReference {
  std::string ns, name;
  std::int64_t port = 443;
  bool operator==(const ServiceReference&) const = default;
};

/// Where a service is, or why it can't be used: the reason and message of an APIService's condition.
struct ServicePlaces {
  std::vector<std::string> hosts;  // "10.0.0.1:443"; any of them
  std::string status = "False", reason, message;
};
/// Asks core-api. `endpoints`: the addresses behind the service, instead of its cluster address.
Task<ServicePlaces> ResolveService(std::shared_ptr<rpc::DelegateClient> core_api, ServiceReference service, bool endpoints);

}  // namespace apimesh::aggregator
