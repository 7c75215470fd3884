#include "services/core-api/connect/kubelets.h"

#include <fmt/format.h>

#include <algorithm>

#include "services/core-api/connect/proxy.h"
#include "services/core-api/groups/walk.h"

namespace apimesh::core_api {
namespace {

constexpr std::string_view kKubeletPort = "10250";

http::ClientOptions ClientOptionsOf(const KubeletOptions& options, bool verify) {
  http::ClientOptions made;
  made.ca_file = options.ca_file;
  made.cert_file = options.cert_file;
  made.key_file = options.key_file;
  made.insecure_skip_verify = !verify || options.ca_file.empty();
  return made;
}

/// Whether the text can be the host of a URL. Kubelets write their addresses themselves, and "host/path?" must not
/// become a path.
bool IsHost(std::string_view text) {
  const auto allowed = [](unsigned char c) { return std::isalnum(c) || c == '.' || c == '-' || c == '_'; };
  return ParseIp(text) || (!text.empty() && std::all_of(text.begin(), text.end(), allowed));
}

}  // namespace

std::string HostPort(std::string_view host, std::string_view port) {
  return host.find(':') == std::string_view::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

meta::Result<Kubelets::Place> KubeletPlace(const meta::Object& node, const std::vector<std::string>& address_types) {
  const auto addresses = Objects(meta::Find(node.Root(), "status", "addresses"));
  const meta::json::value* port = meta::Find(node.Root(), "status", "daemonEndpoints", "kubeletEndpoint", "Port");
  for (const std::string& type : address_types) {
    for (const meta::json::object& address : addresses) {
      if (meta::FindString(address, "type") != type) continue;
      const std::string_view host = meta::FindString(address, "address");
      if (!IsHost(host)) return meta::BadRequest(fmt::format("lookup {}: no such host", host));
      return Kubelets::Place{std::string(host),
                             port && port->is_int64() && port->get_int64() > 0 ? std::to_string(port->get_int64()) : std::string(kKubeletPort)};
    }
  }
  std::vector<std::string> known;
  for (const meta::json::object& address : addresses) {
    known.push_back(fmt::format("{{{} {}}}", meta::FindString(address, "type"), meta::FindString(address, "address")));
  }
  meta::ApiError::Data data;
  data.reason.clear();
  data.message = fmt::format("no preferred addresses found; known addresses: [{}]", fmt::join(known, " "));
  return meta::ApiError(std::move(data));
}

Kubelets::Kubelets(KubeletOptions options, ReadObject read)
    : options_(std::move(options)), read_(std::move(read)), client_(http::NewClient(ClientOptionsOf(options_, true))),
      careless_client_(http::NewClient(ClientOptionsOf(options_, false))),
      proxy_client_(http::NewClient(ForProxies(ClientOptionsOf(options_, true)))) {}

Task<meta::Result<Kubelets::Place>> Kubelets::Find(std::string node) const {
  ASSIGN_OR_CO_RETURN(const meta::Object found, co_await read_("/api/v1/nodes/" + node));
  co_return KubeletPlace(found, options_.address_types);
}

}  // namespace apimesh::core_api
