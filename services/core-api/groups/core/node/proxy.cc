#include "services/core-api/groups/core/node/proxy.h"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>

#include "services/core-api/connect/proxy.h"

namespace apimesh::core_api {
namespace {

namespace asio = boost::asio;

/// 400 if the host is nothing that may be proxied to: the API server's own machine, say.
Task<meta::Result<>> CheckHost(std::string host) {
  asio::ip::tcp::resolver resolver(co_await asio::this_coro::executor);
  boost::system::error_code failure;
  const auto found = co_await resolver.async_resolve(host, "", asio::redirect_error(asio::use_awaitable, failure));
  if (failure) co_return meta::BadRequest(fmt::format("lookup {}: no such host", host));
  for (const auto& entry : found) {
    if (!IsProxyable(entry.endpoint().address().to_string())) co_return meta::BadRequest("address not allowed");
  }
  co_return meta::Result<>();
}

class NodeProxy final : public ProxyConnector {
 public:
  explicit NodeProxy(KubeletsPtr kubelets) : kubelets_(std::move(kubelets)) {}

 protected:
  Task<meta::Result<ProxyTarget>> FindTarget(meta::RequestContext, std::string name) override {
    const std::optional<ProxiedName> wanted = ParseProxiedName(name);
    if (!wanted) co_return meta::BadRequest(fmt::format("invalid node request {}", meta::Quoted(name)));
    ASSIGN_OR_CO_RETURN(const Kubelets::Place place, co_await kubelets_->Find(wanted->name));
    CO_RETURN_IF_ERROR(co_await CheckHost(place.host));
    if (wanted->port.empty() || wanted->port == place.port) co_return ProxyTarget{place.Url(), kubelets_->Client()};
    co_return ProxyTarget{fmt::format("{}://{}", wanted->scheme.empty() ? "http" : wanted->scheme, HostPort(place.host, wanted->port)),
                          ClusterClient()};
  }

 private:
  const KubeletsPtr kubelets_;
};

}  // namespace

std::shared_ptr<endpoint::Connector> NodeProxyConnector(KubeletsPtr kubelets) { return std::make_shared<NodeProxy>(std::move(kubelets)); }

}  // namespace apimesh::core_api
