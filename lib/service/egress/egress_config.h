#pragma once

#include <map>
#include <string>
#include <string_view>

#include "lib/http/client.h"
#include "lib/net/tls/tls_options.h"

namespace apimesh::service {

/// How connections to a network leave.
struct EgressConnection {
  std::string protocol;          // "Direct" or "HTTPConnect"
  std::string url, socket_path;  // of the proxy: one of them, unless the protocol is Direct
  net::ClientTlsOptions tls;
};

/// Parses an EgressSelectorConfiguration. Throws std::invalid_argument with the message of kube-apiserver if it is
/// invalid. The protocol GRPC is refused as well.
std::map<http::Network, EgressConnection> ParseEgressConfig(std::string_view text);

/// "controlplane", "etcd" or "cluster".
std::string_view NameOf(http::Network network);

}  // namespace apimesh::service
