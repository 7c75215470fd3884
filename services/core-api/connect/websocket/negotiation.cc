#include "services/core-api/connect/websocket/negotiation.h"

#include <algorithm>

#include "lib/base/text/text.h"
#include "lib/websocket/handshake.h"

namespace apimesh::core_api {
namespace {

constexpr std::string_view kKubernetesSuffix = ".k8s.io";

std::vector<std::string_view> RequestedProtocols(const mesh::Request& request) {
  if (LowerCase(request.Header("upgrade")) != "websocket") return {};
  return websocket::Subprotocols(request.Header("sec-websocket-protocol"));
}

}  // namespace

bool AsksForStreamClose(const mesh::Request& request) {
  const std::vector<std::string_view> protocols = RequestedProtocols(request);
  return std::find(protocols.begin(), protocols.end(), kStreamCloseProtocol) != protocols.end();
}

std::vector<std::string> TunnelledProtocols(const mesh::Request& request) {
  std::vector<std::string> found;
  for (std::string_view protocol : RequestedProtocols(request)) {
    if (!protocol.starts_with(kTunnelPrefix) || !protocol.ends_with(kKubernetesSuffix)) continue;
    found.emplace_back(protocol.substr(kTunnelPrefix.size()));
  }
  return found;
}

}  // namespace apimesh::core_api
