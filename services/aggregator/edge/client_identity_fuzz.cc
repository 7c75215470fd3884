// Links: services/aggregator/edge/client_identity.cc meta OpenSSL::Crypto
// The x-forwarded-client-cert header and its relatives, on every listener. Who a client is must never depend on what it wrote itself.
#include <cstdint>
#include <cstdlib>

#include "services/aggregator/edge/client_identity.h"

using namespace apimesh;

namespace {

void Check(bool good) {
  if (!good) std::abort();
}

bool SpeaksForAProxy(const std::string& name) {
  return name == "x-forwarded-client-cert" || name == "x-forwarded-for" || name.starts_with("x-envoy-");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string header(reinterpret_cast<const char*>(data), size);
  const std::vector<std::string> certificates = aggregator::CertificatesOfXfcc(header);
  Check(certificates.size() <= 16);
  // An element before ours is the client's own; it must not matter, unless it leaves a quotation open.
  if (header.find_first_of(",\"") == std::string::npos) Check(aggregator::CertificatesOfXfcc("Cert=\"x\"," + header) == certificates);

  const std::size_t half = size / 2;
  for (const aggregator::Door door : {aggregator::Door::kPublic, aggregator::Door::kFrontProxyPort, aggregator::Door::kFrontProxySocket}) {
    http::Peer peer;
    peer.address = "10.0.0.1:1";
    peer.certificates_der = {header.substr(half)};
    http::Headers headers{{"x-forwarded-client-cert", header}, {"x-forwarded-for", header.substr(0, half)}, {"x-envoy-a", header}, {"accept", "*/*"}};
    const aggregator::ClientIdentity identity = aggregator::IdentifyClient(door, peer, headers);
    for (const auto& [name, value] : headers) Check(!SpeaksForAProxy(name));
    Check(headers.size() == 1);
    if (door == aggregator::Door::kPublic) Check(identity.certificates_der == peer.certificates_der && identity.address == peer.address);
    if (door == aggregator::Door::kFrontProxySocket) Check(identity.certificates_der == certificates);
  }
  return 0;
}
