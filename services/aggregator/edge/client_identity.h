#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/http/server.h"

namespace apimesh::aggregator {

/// Which of the edge's doors a request came through.
enum class Door {
  kPublic,            // anyone: what headers say about identity is worth nothing
  kFrontProxyPort,    // only Envoy, by its mesh certificate: believed, because Envoy has cleaned the headers
  kFrontProxySocket,  // only processes of our own user on this machine, which could read Envoy's key as well: believed
};

/// Who the TLS client of a request is.
struct ClientIdentity {
  std::vector<std::string> certificates_der;  // leaf first; not verified
  std::string address;
};
/// Also removes from `headers` those by which a front proxy speaks, so that nothing behind the edge can be fooled.
ClientIdentity IdentifyClient(Door door, const http::Peer& peer, http::Headers& headers);

/// The certificates of an x-forwarded-client-cert header: `Cert="…"` or `Chain="…"` (URL-encoded PEM) of its last
/// element, which is the one that our own front proxy wrote. Empty if there are none or it is malformed.
std::vector<std::string> CertificatesOfXfcc(std::string_view header);

}  // namespace apimesh::aggregator
