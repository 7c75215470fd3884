#include "lib/service/service_resolver.h"

#include <atomic>

#include <fmt/format.h>

#include "lib/mesh/api_client.h"
#include "lib/meta/errors/other_errors.h"

namespace apimesh::service {
namespace {

namespace json = meta::json;

constexpr std::chrono::seconds kTimeout{10};

const json::array& ListAt(const json::object& object, std::string_view field) {
  static const json::array kNone;
  const json::value* found = meta::FindField(object, field);
  return found && found->is_array() ? found->get_array() : kNone;
}

std::string HostPort(std::string_view host, std::int64_t port) {
  return host.find(':') == std::string_view::npos ? fmt::format("{}:{}", host, port)
                                                  : fmt::format("[{}]:{}", host, port);
}

/// Adds the ready addresses of one EndpointSlice that has the named port.
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

const json::object* PortOf(const json::object& service, std::int64_t wanted) {
  const json::value* spec = meta::FindField(service, "spec");
  if (!spec || !spec->is_object()) return nullptr;
  for (const json::value& one : ListAt(spec->get_object(), "ports")) {
    const json::value* number = one.is_object() ? meta::FindField(one.get_object(), "port") : nullptr;
    if (number && *number == wanted) return &one.get_object();
  }
  return nullptr;
}

mesh::ApiRequest ServiceRequest(const ServiceReference& reference, const Clock& clock) {
  mesh::ApiRequest get;
  get.path = fmt::format("/api/v1/namespaces/{}/services/{}", reference.ns, reference.name);
  get.deadline = clock.Steady() + kTimeout;
  return get;
}

mesh::ApiRequest SlicesRequest(const ServiceReference& reference, const Clock& clock) {
  mesh::ApiRequest list;
  list.path = fmt::format("/apis/discovery.k8s.io/v1/namespaces/{}/endpointslices", reference.ns);
  list.query = "labelSelector=kubernetes.io%2Fservice-name%3D" + reference.name;
  list.deadline = clock.Steady() + kTimeout;
  return list;
}

meta::ApiError NotRoutable() { return meta::PlainError("cannot route to service with ClusterIP \"None\""); }

ServicePlaces Unusable(std::string status, std::string reason, std::string message) {
  return {{}, std::move(status), std::move(reason), std::move(message)};
}

}  // namespace

Task<ServicePlaces> CheckService(std::shared_ptr<mesh::DelegateClient> core_api, ServiceReference reference,
                                 bool endpoints, const Clock& clock) {
  const std::string what = fmt::format("service/{} in \"{}\"", reference.name, reference.ns);
  const mesh::ApiClient api(core_api);
  const meta::Result<meta::Object> service = co_await api.SendForObject(ServiceRequest(reference, clock));
  if (!service && service.error().Is(meta::Reason::kNotFound))
    co_return Unusable("False", "ServiceNotFound", what + " is not present");
  if (!service)
    co_return Unusable("Unknown", "ServiceAccessError",
                       fmt::format("{} cannot be checked due to: {}", what, service.error().Message()));
  const std::string type(meta::FindString(service->Root(), "spec", "type"));
  ServicePlaces places;
  if (type == "ExternalName") {
    places.hosts.push_back(HostPort(meta::FindString(service->Root(), "spec", "externalName"), reference.port));
    co_return places;
  }
  const json::object* port = PortOf(service->Root(), reference.port);
  if (!port)
    co_return Unusable("False", "ServicePortError",
                       fmt::format("{} is not listening on port {}", what, reference.port));
  const std::string port_name(meta::FindString(*port, "name"));
  const meta::Result<meta::Object> slices = co_await api.SendForObject(SlicesRequest(reference, clock));
  if (!slices)
    co_return Unusable("Unknown", "EndpointsAccessError",
                       fmt::format("{} cannot be checked due to: {}", what, slices.error().Message()));
  const json::array& items = ListAt(slices->Root(), "items");
  if (items.empty()) co_return Unusable("False", "EndpointsNotFound", "cannot find endpointslices for " + what);
  for (const json::value& slice : items) {
    if (slice.is_object()) AddReady(slice.get_object(), port_name, places.hosts);
  }
  if (places.hosts.empty()) {
    co_return Unusable("False", "MissingEndpoints",
                       fmt::format("endpointslices for {} have no addresses with port name \"{}\"", what, port_name));
  }
  const std::string_view address = meta::FindString(service->Root(), "spec", "clusterIP");
  if (!endpoints && address == "None") co_return Unusable("False", "FailedDiscoveryCheck", NotRoutable().Message());
  if (!endpoints) places.hosts = {HostPort(address, reference.port)};
  co_return places;
}

Task<meta::Result<std::string>> ResolveService(std::shared_ptr<mesh::DelegateClient> core_api,
                                               ServiceReference reference, bool endpoints, const Clock& clock) {
  static std::atomic<std::size_t> turn = 0;  // spreads requests over the endpoints
  const mesh::ApiClient api(core_api);
  const meta::Result<meta::Object> service = co_await api.SendForObject(ServiceRequest(reference, clock));
  if (!service && service.error().Is(meta::Reason::kNotFound)) {
    // Without the name of the resource, as the cache of services reports it in kube-apiserver.
    co_return meta::NotFound(meta::GroupResource{"", "service"}, reference.name);
  }
  if (!service) co_return service.error();
  const std::string_view type = meta::FindString(service->Root(), "spec", "type");
  const std::string_view address = meta::FindString(service->Root(), "spec", "clusterIP");
  if (type == "ExternalName" && !endpoints)
    co_return HostPort(meta::FindString(service->Root(), "spec", "externalName"), reference.port);
  if (type == "ExternalName") co_return meta::PlainError("unsupported service type \"ExternalName\"");
  if (!endpoints && address == "None") co_return NotRoutable();
  const json::object* port = PortOf(service->Root(), reference.port);
  if (!port) {
    co_return meta::ServiceUnavailable(
        fmt::format("no service port {} found for service \"{}\"", reference.port, reference.name), 0);
  }
  if (!endpoints) co_return HostPort(address, reference.port);
  const meta::Result<meta::Object> slices = co_await api.SendForObject(SlicesRequest(reference, clock));
  if (!slices) co_return slices.error();
  std::vector<std::string> hosts;
  for (const json::value& slice : ListAt(slices->Root(), "items")) {
    if (slice.is_object()) AddReady(slice.get_object(), meta::FindString(*port, "name"), hosts);
  }
  if (hosts.empty()) {
    co_return meta::ServiceUnavailable(fmt::format("no endpoints available for service \"{}\"", reference.name), 0);
  }
  co_return hosts[turn++ % hosts.size()];
}

}  // namespace apimesh::service
