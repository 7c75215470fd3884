#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lib/http/client.h"
#include "lib/registry/connector.h"

/// The subresource "proxy" of pods, services and nodes.
namespace apimesh::core_api {

/// The name of a proxied object: "name", "name:port" or "scheme:name:port". ParseProxiedName() returns nullopt for
/// other texts.
struct ProxiedName {
  std::string scheme, name, port;
};
std::optional<ProxiedName> ParseProxiedName(std::string_view text);

/// Whether the proxies may connect to an address: it is an IP address that is not loopback, link-local, multicast,
/// broadcast or unspecified, and not an IPv6 address that embeds such an IPv4 address.
bool IsProxyable(std::string_view ip);
/// Returns the options of a client that connects only to addresses that IsProxyable() accepts, also when a host name is
/// resolved. Proxied requests of users must not share connections with requests of the server itself, so they need a
/// separate client.
http::ClientOptions ForProxies(http::ClientOptions options);

/// The destination of a proxied request.
struct ProxyTarget {
  std::string url;  // "http://10.0.0.1:80"
  std::shared_ptr<http::Client> client;
};
/// Forwards requests to the destination that FindTarget() returns for the object in the URL.
class ProxyConnector : public registry::Connector {
 public:
  Task<meta::Result<>> Forward(meta::RequestContext ctx, mesh::Request request, mesh::ResponseStream& stream) override;
  Task<meta::Result<>> Upgrade(meta::RequestContext ctx, mesh::Request request, mesh::ConnectStream& stream) override;

 protected:
  virtual Task<meta::Result<ProxyTarget>> FindTarget(meta::RequestContext ctx, std::string name) = 0;
};

/// Creates the client for connections to pods and services. It accepts any certificate.
std::shared_ptr<http::Client> NewClusterClient(const Clock& clock);

}  // namespace apimesh::core_api
