#pragma once

#include <string>
#include <vector>

namespace apimesh::net {

/// The properties of the client of a connection.
struct Peer {
  std::string address;  // "ip:port"
  bool tls = false;
  std::vector<std::string>
      certificates_der;  // leaf first; verified against a CA only if the listener requires a certificate
  std::string sni;
  std::string protocol;  // chosen by ALPN; "" if the client does not use it

  bool UsesHttp2() const { return protocol == "h2"; }
};

}  // namespace apimesh::net
