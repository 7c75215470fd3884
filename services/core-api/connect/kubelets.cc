#include "services/core-api/connect/kubelets.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/meta/errors/other_errors.h"
#include "services/core-api/connect/proxy.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

constexpr std::string_view kKubeletPort = "10250";

http::ClientOptions ClientOptionsOf(const KubeletOptions& options, bool verify, const Clock& clock) {
  http::ClientOptions made{.clock = clock};
  made.tls.ca_file = options.ca_file;
  made.tls.cert_file = options.cert_file;
  made.tls.key_file = options.key_file;
  made.tls.insecure_skip_verify = !verify || options.ca_file.empty();
  made.network = http::Network::kCluster;
  return made;
}

/// Whether the text can be the host of a URL. Kubelets report their own addresses, and an address such as "host/path?"
/// must not change the path of the URL.
bool IsHost(std::string_view text) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-' || c == '_'; };
  return ParseIp(text) || (!text.empty() && std::all_of(text.begin(), text.end(), allowed));
}

}  // namespace

std::string HostPort(std::string_view host, std::string_view port) {
  return host.find(':') == std::string_view::npos ? fmt::format("{}:{}", host, port)
                                                  : fmt::format("[{}]:{}", host, port);
}

meta::Result<Kubelets::Address> KubeletAddress(const meta::Object& node,
                                               const std::vector<std::string>& address_types) {
  const auto addresses = Objects(meta::Find(node.Root(), "status", "addresses"));
  const meta::json::value* port = meta::Find(node.Root(), "status", "daemonEndpoints", "kubeletEndpoint", "Port");
  for (const std::string& type : address_types) {
    for (const meta::json::object& address : addresses) {
      if (meta::FindString(address, "type") != type) continue;
      const std::string_view host = meta::FindString(address, "address");
      if (!IsHost(host)) return meta::BadRequest(fmt::format("lookup {}: no such host", host));
      return Kubelets::Address{std::string(host), port && port->is_int64() && port->get_int64() > 0
                                                      ? std::to_string(port->get_int64())
                                                      : std::string(kKubeletPort)};
    }
  }
  std::vector<std::string> known;
  for (const meta::json::object& address : addresses) {
    known.push_back(fmt::format("{{{} {}}}", meta::FindString(address, "type"), meta::FindString(address, "address")));
  }
  return meta::PlainError(fmt::format("no preferred addresses found; known addresses: [{}]", fmt::join(known, " ")));
}

Kubelets::Kubelets(KubeletOptions options, ReadObject read, const Clock& clock)
    : options_(std::move(options)),
      read_(std::move(read)),
      client_(http::NewClient(ClientOptionsOf(options_, true, clock))),
      careless_client_(http::NewClient(ClientOptionsOf(options_, false, clock))),
      proxy_client_(http::NewClient(ForProxies(ClientOptionsOf(options_, true, clock)))) {}

Task<meta::Result<Kubelets::Address>> Kubelets::Find(std::string node) const {
  ASSIGN_OR_CO_RETURN(const meta::Object found, co_await read_("/api/v1/nodes/" + node));
  co_return KubeletAddress(found, options_.address_types);
}

}  // namespace apimesh::core_api
