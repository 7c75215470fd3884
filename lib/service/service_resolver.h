#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/base/async/task.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/meta/errors/api_error.h"

namespace apimesh::service {

/// A Service of the cluster to which a process of the mesh sends requests.
struct ServiceReference {
  std::string ns, name;
  std::int64_t port = 443;
  bool operator==(const ServiceReference&) const = default;
};

/// The addresses of a service. If there are none, `reason` and `message` explain why, as in a condition of an
/// APIService.
struct ServicePlaces {
  std::vector<std::string> hosts;  // any of them may be used, for example "10.0.0.1:443"
  std::string status = "False", reason, message;
};
/// Looks up the service in core-api and checks that it has ready endpoints. `endpoints`: returns the endpoint addresses
/// of the service instead of its cluster IP.
Task<ServicePlaces> CheckService(std::shared_ptr<mesh::DelegateClient> core_api, ServiceReference service,
                                 bool endpoints, const Clock& clock);

/// Returns the address for one request to the service, such as "10.0.0.1:443". Its cluster IP is returned without a
/// check of the endpoints. `endpoints`: returns the address of a ready endpoint instead of the cluster IP.
Task<meta::Result<std::string>> ResolveService(std::shared_ptr<mesh::DelegateClient> core_api, ServiceReference service,
                                               bool endpoints, const Clock& clock);

}  // namespace apimesh::service
