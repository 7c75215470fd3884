#include "services/core-api/groups/core/node/proxy.h"

#include <fmt/format.h>

#include "lib/base/ip_address.h"
#include "services/core-api/connect/proxy.h"

namespace apimesh::core_api {
namespace {

class NodeProxy final : public ProxyConnector {
 public:
  explicit NodeProxy(KubeletsPtr kubelets) : kubelets_(std::move(kubelets)) {}

 protected:
  Task<meta::Result<ProxyTarget>> FindTarget(meta::RequestContext, std::string name) override {
    const std::optional<ProxiedName> wanted = ParseProxiedName(name);
    if (!wanted) co_return meta::BadRequest(fmt::format("invalid node request {}", meta::Quoted(name)));
    ASSIGN_OR_CO_RETURN(const Kubelets::Place place, co_await kubelets_->Find(wanted->name));
    // The addresses of a host name are checked when they are connected to: another lookup could give another answer.
    if (ParseIp(place.host) && !IsProxyable(place.host)) co_return meta::BadRequest("address not allowed");
    if (wanted->port.empty() || wanted->port == place.port) co_return ProxyTarget{place.Url(), kubelets_->ProxyClient()};
    co_return ProxyTarget{fmt::format("{}://{}", wanted->scheme.empty() ? "http" : wanted->scheme, HostPort(place.host, wanted->port)),
                          ClusterClient()};
  }

 private:
  const KubeletsPtr kubelets_;
};

}  // namespace

std::shared_ptr<endpoint::Connector> NodeProxyConnector(KubeletsPtr kubelets) { return std::make_shared<NodeProxy>(std::move(kubelets)); }

}  // namespace apimesh::core_api
