#include "services/aggregator/apiservices/service_resolver.h"

#include <fmt/format.h>

#include "services/aggregator/apiservices/api_requests.h"

namespace apimesh::aggregator {
namespace {

namespace json = meta::json;

const json::array& ListAt(const json::object& object, std::string_view field) {
  static const json::array kNone;
  const json::value* found = meta::FindField(object, field);
  return found && found->is_array() ? found->get_array() : kNone;
}

std::string HostPort(std::string_view host, std::int64_t port) {
  return host.find(':') == std::string_view::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

/// The ready addresses of one slice that has the named port.
void AddReady(const json::object& slice, std::string_view port_name, std::vector<std::string>& hosts) {
  for (const json::value& port : ListAt(slice, "ports")) {
    if (!port.is_object() || meta::FindString(port.get_object(), "name") != port_name) continue;
    const json::value* number = meta::FindField(port.get_object(), "port");
    if (!number || !number->is_int64()) continue;
    for (const json::value& endpoint : ListAt(slice, "endpoints")) {
      if (!endpoint.is_object()) continue;
      const json::value* ready = meta::Find(endpoint.get_object(), "conditions", "ready");
      const json::array& addresses = ListAt(endpoint.get_object(), "addresses");
      if ((ready && *ready == false) || addresses.empty() || !addresses[0].is_string()) continue;
      hosts.push_back(HostPort(std::string_view(addresses[0].get_string()), number->get_int64()));
    }
  }
}

ServicePlaces Unusable(std::string status, std::string reason, std::string message) {
  return {{}, std::move(status), std::move(reason), std::move(message)};
}

}  // namespace

Task<ServicePlaces> ResolveService(std::shared_ptr<rpc::DelegateClient> core_api, ServiceReference reference, bool endpoints) {
  const std::string what = fmt::format("service/{} in \"{}\"", reference.name, reference.ns);
  const std::string path = fmt::format("/api/v1/namespaces/{}/services/{}", reference.ns, reference.name);
  const meta::Result<meta::Object> service = co_await SendRequest(core_api, "GET", path, "", "");
  if (!service && service.error().Is("NotFound")) co_return Unusable("False", "ServiceNotFound", what + " is not present");
  if (!service) co_return Unusable("Unknown", "ServiceAccessError", fmt::format("{} cannot be checked due to: {}", what, service.error().Message()));
  const std::string type(meta::FindString(service->Root(), "spec", "type"));
  ServicePlaces places;
  if (type == "ExternalName") {
    places.hosts.push_back(HostPort(meta::FindString(service->Root(), "spec", "externalName"), reference.port));
    co_return places;
  }
  const json::object* port = nullptr;
  const json::value* spec = meta::FindField(service->Root(), "spec");
  for (const json::value& one : ListAt(spec->get_object(), "ports")) {
    const json::value* number = one.is_object() ? meta::FindField(one.get_object(), "port") : nullptr;
    if (number && *number == reference.port) port = &one.get_object();
  }
  if (!port) co_return Unusable("False", "ServicePortError", fmt::format("{} is not listening on port {}", what, reference.port));
  const std::string port_name(meta::FindString(*port, "name"));
  const std::string slices_path = fmt::format("/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices", reference.ns);
  const std::string query = "labelSelector=kubernetes.io%2Fservice-name%3D" + reference.name;
  const meta::Result<meta::Object> slices = co_await SendRequest(core_api, "GET", slices_path, query, "");
  if (!slices) co_return Unusable("Unknown", "EndpointsAccessError", fmt::format("{} cannot be checked due to: {}", what, slices.error().Message()));
  const json::array& items = ListAt(slices->Root(), "items");
  if (items.empty()) co_return Unusable("False", "EndpointsNotFound", "cannot find endpointslices for " + what);
  for (const json::value& slice : items) {
    if (slice.is_object()) AddReady(slice.get_object(), port_name, places.hosts);
  }
  if (places.hosts.empty()) {
    co_return Unusable("False", "MissingEndpoints", fmt::format("endpointslices for {} have no addresses with port name \"{}\"", what, port_name));
  }
  const std::string_view address = meta::FindString(service->Root(), "spec", "clusterIP");
  if (!endpoints && address != "None") places.hosts = {HostPort(address, reference.port)};
  if (!endpoints && address == "None") {
    co_return Unusable("False", "FailedDiscoveryCheck", "cannot route to service with ClusterIP \"None\"");
  }
  co_return places;
}

}  // namespace apimesh::aggregator
