#include "services/core-api/bootstrap/kubernetes_service.h"

#include <algorithm>

#include <arpa/inet.h>
#include <fmt/format.h>

#include "lib/base/clock.h"
#include "lib/meta/time.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

bool IsIpv6(std::string_view address) { return address.find(':') != std::string_view::npos; }

meta::Object Named(std::string_view api_version, std::string_view kind, std::string_view ns, std::string_view name) {
  json::object metadata{{"name", name}};
  if (!ns.empty()) metadata["namespace"] = ns;
  return meta::Object(json::object{{"apiVersion", api_version}, {"kind", kind}, {"metadata", std::move(metadata)}});
}

}  // namespace

std::optional<std::string> FirstServiceAddress(std::string_view cidr) {
  const std::size_t slash = cidr.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string network(cidr.substr(0, slash));
  const int family = IsIpv6(network) ? AF_INET6 : AF_INET;
  const int bytes = family == AF_INET6 ? 16 : 4;
  const int prefix = std::atoi(std::string(cidr.substr(slash + 1)).c_str());
  unsigned char address[16] = {};
  if (::inet_pton(family, network.c_str(), address) != 1 || prefix < 0 || prefix > bytes * 8) return std::nullopt;
  for (int bit = prefix; bit < bytes * 8; ++bit) address[bit / 8] &= static_cast<unsigned char>(~(0x80u >> (bit % 8)));
  for (int i = bytes - 1; i >= 0 && ++address[i] == 0; --i) {}
  char text[INET6_ADDRSTRLEN];
  if (!::inet_ntop(family, address, text, sizeof text)) return std::nullopt;
  return std::string(text);
}

meta::Object KubernetesService(const KubernetesServiceOptions& options) {
  const std::string ip = options.cidrs.empty() ? "" : FirstServiceAddress(options.cidrs[0]).value_or("");
  json::object port{{"name", "https"}, {"port", 443}, {"protocol", "TCP"}, {"targetPort", options.secure_port}};
  if (options.node_port > 0) port["nodePort"] = options.node_port;
  meta::Object service = Named("v1", "Service", "default", "kubernetes");
  service.Metadata()["labels"] = {{"component", "apiserver"}, {"provider", "kubernetes"}};
  service.Root()["spec"] = {{"clusterIP", ip},
                            {"clusterIPs", json::array{ip}},
                            {"internalTrafficPolicy", "Cluster"},
                            {"ipFamilies", json::array{IsIpv6(ip) ? "IPv6" : "IPv4"}},
                            {"ipFamilyPolicy", "SingleStack"},
                            {"ports", json::array{std::move(port)}},
                            {"sessionAffinity", "None"},
                            {"type", options.node_port > 0 ? "NodePort" : "ClusterIP"}};
  return service;
}

meta::Object KubernetesEndpoints(const std::vector<std::string>& addresses, int port) {
  meta::Object endpoints = Named("v1", "Endpoints", "default", "kubernetes");
  endpoints.Metadata()["labels"] = {{"endpointslice.kubernetes.io/skip-mirror", "true"}};
  json::array list;
  for (const std::string& address : addresses) list.push_back(json::object{{"ip", address}});
  json::object subset{{"addresses", std::move(list)},
                      {"ports", json::array{json::object{{"name", "https"}, {"port", port}, {"protocol", "TCP"}}}}};
  json::array subsets;
  if (!addresses.empty()) subsets.push_back(std::move(subset));
  endpoints.Root()["subsets"] = std::move(subsets);
  return endpoints;
}

meta::Object KubernetesEndpointSlice(const std::vector<std::string>& addresses, int port) {
  meta::Object slice = Named("discovery.k8s.io/v1", "EndpointSlice", "default", "kubernetes");
  slice.Metadata()["labels"] = {{"kubernetes.io/service-name", "kubernetes"}};
  const bool ipv6 = !addresses.empty() && std::all_of(addresses.begin(), addresses.end(), &IsIpv6);
  slice.Root()["addressType"] = ipv6 ? "IPv6" : "IPv4";
  json::array list;
  for (const std::string& address : addresses) {
    if (IsIpv6(address) == ipv6) {
      list.push_back(json::object{{"addresses", json::array{address}}, {"conditions", {{"ready", true}}}});
    }
  }
  slice.Root()["endpoints"] = std::move(list);
  slice.Root()["ports"] = json::array{json::object{{"name", "https"}, {"protocol", "TCP"}, {"port", port}}};
  return slice;
}

std::vector<std::string> MasterCountAddresses(std::vector<std::string> present, const std::string& own, int count) {
  if (std::find(present.begin(), present.end(), own) != present.end()) return present;
  present.push_back(own);
  std::sort(present.begin(), present.end());
  present.erase(std::unique(present.begin(), present.end()), present.end());
  while (static_cast<int>(present.size()) > std::max(count, 1)) {
    const auto next = std::find(present.begin(), present.end(), own) + 1;
    present.erase(next == present.end() ? present.begin() : next);
  }
  return present;
}

meta::Object KubernetesServiceCidr(const std::vector<std::string>& cidrs) {
  meta::Object object = Named("networking.k8s.io/v1", "ServiceCIDR", "", "kubernetes");
  object.Root()["spec"] = {{"cidrs", json::array(cidrs.begin(), cidrs.end())}};
  return object;
}

}  // namespace apimesh::core_api
