#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/http/server.h"

namespace apimesh::aggregator {

/// The listener that accepted a request.
enum class Listener {
  kPublic,            // open to anyone: identity headers are not trusted
  kFrontProxyPort,    // only Envoy, authenticated by its mesh certificate: trusted, because Envoy sanitises the headers
  kFrontProxySocket,  // only processes of the same user on this machine, which could also read Envoy's key: trusted
};

/// The identity of the TLS client of a request.
struct ClientIdentity {
  std::vector<std::string> certificates_der;  // leaf first; not verified
  std::string address;
  std::string forwarded_for;  // X-Forwarded-For; on the public listener, anyone can have written it
};
/// Determines the TLS client of a request. Also removes from `headers` the headers that only a front proxy may set and
/// those that imitate identity headers, so that no server behind the edge trusts them.
ClientIdentity IdentifyClient(Listener listener, const net::Peer& peer, http::Headers& headers);

/// Returns the certificates of an x-forwarded-client-cert header: `Cert="…"` or `Chain="…"` (URL-encoded PEM) of its
/// last element, which the front proxy wrote. Returns an empty list if there are none or the header is malformed.
std::vector<std::string> CertificatesOfXfcc(std::string_view header);

}  // namespace apimesh::aggregator
