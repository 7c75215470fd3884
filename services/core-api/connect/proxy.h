#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "lib/http/client.h"
#include "lib/endpoint/connector.h"

/// The subresource "proxy" of pods, services and nodes.
namespace apimesh::core_api {

/// "name", "name:port" or "scheme:name:port", as names of proxied objects are written; nullopt: none of these.
struct ProxiedName {
  std::string scheme, name, port;
};
std::optional<ProxiedName> ParseProxiedName(std::string_view text);

/// Whether an address may be proxied to: an IP address that is not loopback, link-local, multicast or unspecified, also
/// not in an IPv6 form of such an IPv4 address.
bool IsProxyable(std::string_view ip);
/// The options of a client that connects to such addresses only, whatever a host name resolves to. Requests that users
/// have proxied must not share connections with requests that the server makes for itself, hence a client of their own.
http::ClientOptions ForProxies(http::ClientOptions options);

/// Where a proxied request goes.
struct ProxyTarget {
  std::string url;  // "http://10.0.0.1:80"
  std::shared_ptr<http::Client> client;
};
/// A proxy to the place that FindTarget gives for the object in the URL.
class ProxyConnector : public endpoint::Connector {
 public:
  Task<meta::Result<>> Forward(meta::RequestContext ctx, rpc::Request request, rpc::ResponseStream& stream) override;
  Task<meta::Result<>> Upgrade(meta::RequestContext ctx, rpc::Request request, rpc::ConnectStream& stream) override;

 protected:
  virtual Task<meta::Result<ProxyTarget>> FindTarget(meta::RequestContext ctx, std::string name) = 0;
};

/// The client for whatever runs in the cluster: takes any certificate.
std::shared_ptr<http::Client> ClusterClient();

}  // namespace apimesh::core_api
