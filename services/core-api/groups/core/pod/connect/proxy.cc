#include "services/core-api/connect/proxy.h"

#include <fmt/format.h>

#include "services/core-api/groups/core/pod/connect/connectors.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

class PodProxy final : public ProxyConnector {
 public:
  PodProxy(ReadObject read, std::shared_ptr<http::Client> client)
      : read_(std::move(read)), client_(std::move(client)) {}

 protected:
  Task<meta::Result<ProxyTarget>> FindTarget(meta::RequestContext ctx, std::string name) override {
    std::optional<ProxiedName> wanted = ParseProxiedName(name);
    if (!wanted) co_return meta::BadRequest(fmt::format("invalid pod request {}", meta::Quoted(name)));
    ASSIGN_OR_CO_RETURN(const meta::Object pod,
                        co_await read_(fmt::format("/api/v1/namespaces/{}/pods/{}", ctx.Info().ns, wanted->name)));
    for (const meta::json::object& container : Objects(meta::Find(pod.Root(), "spec", "containers"))) {
      const auto ports = Objects(meta::FindField(container, "ports"));
      if (!wanted->port.empty() || ports.empty()) continue;
      const meta::json::value* port = meta::FindField(ports.front(), "containerPort");
      if (port && port->is_int64()) wanted->port = std::to_string(port->get_int64());
    }
    const auto ips = Objects(meta::Find(pod.Root(), "status", "podIPs"));
    const std::string ip(ips.empty() ? std::string_view() : meta::FindString(ips.front(), "ip"));
    if (!IsProxyable(ip)) co_return meta::BadRequest("address not allowed");
    const std::string scheme = wanted->scheme.empty() ? "http" : wanted->scheme;
    if (wanted->port.empty()) wanted->port = scheme == "https" ? "443" : "80";
    co_return ProxyTarget{scheme + "://" + HostPort(ip, wanted->port), client_};
  }

 private:
  const ReadObject read_;
  const std::shared_ptr<http::Client> client_;
};

}  // namespace

std::shared_ptr<registry::Connector> PodProxyConnector(ReadObject read, std::shared_ptr<http::Client> client) {
  return std::make_shared<PodProxy>(std::move(read), std::move(client));
}

}  // namespace apimesh::core_api
