// Links: services/aggregator/edge/client_identity.cc meta OpenSSL::Crypto
// Parses x-forwarded-client-cert and related headers, on every listener. The identity of a client must never depend on
// headers that the client wrote.
#include <cstdint>
#include <cstdlib>

#include "services/aggregator/edge/client_identity.h"

using namespace apimesh;

namespace {

void Check(bool good) {
  if (!good) std::abort();
}

bool IsProxyHeader(const std::string& name) {
  return name == "x-forwarded-client-cert" || name == "x-forwarded-for" || name.starts_with("x-envoy-");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string header(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> certificates = aggregator::CertificatesOfXfcc(header);
  Check(certificates.size() <= 16);
  // Elements before the last one come from the client. They must not change the result, unless one leaves a quotation
  // open.
  if (header.find_first_of(",\"") == std::string::npos)
    Check(aggregator::CertificatesOfXfcc("Cert=\"x\"," + header) == certificates);

  const std::size_t half = size / 2;
  for (const aggregator::Listener listener : {aggregator::Listener::kPublic, aggregator::Listener::kFrontProxyPort,
                                              aggregator::Listener::kFrontProxySocket}) {
    net::Peer peer;
    peer.address = "10.0.0.1:1";
    peer.certificates_der = {header.substr(half)};
    http::Headers headers{{"x-forwarded-client-cert", header},
                          {"x-forwarded-for", header.substr(0, half)},
                          {"x-envoy-a", header},
                          {"accept", "*/*"}};
    const aggregator::ClientIdentity identity = aggregator::IdentifyClient(listener, peer, headers);
    for (const auto& [name, value] : headers) Check(!IsProxyHeader(name));
    Check(headers.size() == 1);
    if (listener == aggregator::Listener::kPublic)
      Check(identity.certificates_der == peer.certificates_der && identity.address == peer.address);
    if (listener == aggregator::Listener::kFrontProxySocket) Check(identity.certificates_der == certificates);
  }
  return 0;
}
