#include "services/core-api/groups/core/node/proxy.h"

#include <fmt/format.h>

#include "lib/base/ip_address.h"
#include "services/core-api/connect/proxy.h"

namespace apimesh::core_api {
namespace {

class NodeProxy final : public ProxyConnector {
 public:
  NodeProxy(KubeletsPtr kubelets, std::shared_ptr<http::Client> client)
      : kubelets_(std::move(kubelets)), client_(std::move(client)) {}

 protected:
  Task<meta::Result<ProxyTarget>> FindTarget(meta::RequestContext, std::string name) override {
    const std::optional<ProxiedName> wanted = ParseProxiedName(name);
    if (!wanted) co_return meta::BadRequest(fmt::format("invalid node request {}", meta::Quoted(name)));
    ASSIGN_OR_CO_RETURN(const Kubelets::Address address, co_await kubelets_->Find(wanted->name));
    // The addresses of a host name are checked when the client connects to them, because a second lookup could return
    // other addresses.
    if (ParseIp(address.host) && !IsProxyable(address.host)) co_return meta::BadRequest("address not allowed");
    if (wanted->port.empty() || wanted->port == address.port)
      co_return ProxyTarget{address.Url(), kubelets_->ProxyClient()};
    co_return ProxyTarget{
        fmt::format("{}://{}", wanted->scheme.empty() ? "http" : wanted->scheme, HostPort(address.host, wanted->port)),
        client_};
  }

 private:
  const KubeletsPtr kubelets_;
  const std::shared_ptr<http::Client> client_;
};

}  // namespace

std::shared_ptr<registry::Connector> NodeProxyConnector(KubeletsPtr kubelets, std::shared_ptr<http::Client> client) {
  return std::make_shared<NodeProxy>(std::move(kubelets), std::move(client));
}

}  // namespace apimesh::core_api
