#include "services/aggregator/listeners.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "lib/http/body_budget.h"
#include "lib/mesh/identity.h"
#include "lib/net/tls/tls.h"
#include "services/aggregator/edge/api_errors.h"

namespace apimesh::aggregator {
namespace {

// Parses "cert,key" or "cert,key:name,name".
net::ServerTlsOptions::Sni ParseSni(const std::string& text) {
  net::ServerTlsOptions::Sni sni;
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos)
    throw std::runtime_error("--tls-sni-cert-key: expected certificate,key in \"" + text + "\"");
  const std::size_t colon = text.find(':', comma);
  sni.cert_file = text.substr(0, comma);
  sni.key_file = text.substr(comma + 1, colon == std::string::npos ? colon : colon - comma - 1);
  for (std::size_t start = colon; start < text.size();) {
    const std::size_t end = std::min(text.find(',', start + 1), text.size());
    sni.names.push_back(text.substr(start + 1, end - start - 1));
    start = end;
  }
  return sni;
}

}  // namespace

http::Limits LimitsOf(const Options& options) {
  http::Limits limits;
  if (options.max_body_bytes_in_flight > 0)
    limits.bodies = std::make_shared<http::BodyBudget>(options.max_body_bytes_in_flight);
  limits.unfinished_head_bytes = 6 << 20;  // a request has up to ten copies of a long path
  limits.connections = options.max_connections > 0 ? options.max_connections : http::DefaultMaxConnections();
  limits.refusal_body = &StatusBody;
  return limits;
}

http::ServerOptions PublicPort(const Options& options, const http::Limits& limits, const Clock& clock) {
  http::ServerOptions listener{.clock = clock};
  listener.limits = limits;
  listener.address = options.bind_address;
  listener.port = options.secure_port;
  listener.threads = options.common.io_threads;
  listener.tls_options.cert_file = options.tls_cert_file;
  listener.tls_options.key_file = options.tls_key_file;
  listener.tls_options.min_version = options.tls_min_version;
  listener.tls_options.cipher_suites = options.tls_cipher_suites;
  listener.tls_options.curves = options.tls_curves;
  listener.share_port = options.permit_port_sharing;
  if (!options.disable_http2) listener.tls_options.protocols = {"h2", "http/1.1"};
  if (options.http2_streams > 0) listener.limits.http2_streams = static_cast<std::uint32_t>(options.http2_streams);
  for (const std::string& sni : options.tls_sni) listener.tls_options.sni.push_back(ParseSni(sni));
  for (const std::string& file : {options.client_ca_file, options.request_header_ca_file}) {
    if (!file.empty()) listener.tls_options.client_ca_files.push_back(file);
  }
  return listener;
}

const std::string& UnixSocket(std::string_view flag, const std::string& address) {
  if (address.starts_with("unix:")) return address;
  throw std::runtime_error(fmt::format("--{}: expected unix:/path, not \"{}\"", flag, address));
}

http::ServerOptions PlainSocket(const std::string& address, const Options& options, const http::Limits& limits,
                                const Clock& clock) {
  http::ServerOptions listener{.clock = clock};
  listener.limits = limits;
  listener.address = address;
  listener.threads = options.common.io_threads;
  listener.tls = false;
  return listener;
}

http::ServerOptions FrontProxyPort(const Options& options, const http::Limits& limits, const Clock& clock) {
  http::ServerOptions listener{.clock = clock};
  listener.limits = limits;
  listener.address = options.mesh_bind_address;
  listener.port = options.mesh_port;
  listener.threads = options.common.io_threads;
  listener.tls_options.cert_file = options.common.mesh_cert_file;
  listener.tls_options.key_file = options.common.mesh_key_file;
  listener.tls_options.client_ca_files = {options.common.mesh_ca_file};
  listener.tls_options.client_certificate = net::ServerTlsOptions::ClientCertificate::kRequire;
  listener.tls_options.protocols = {"h2", "http/1.1"};
  listener.limits.http2_from_proxy = true;
  // This listener trusts the client certificate that the peer reports, so only the front proxy may connect.
  listener.tls_options.client_uris = {mesh::IdentityOf(mesh::kEnvoy)};
  return listener;
}

}  // namespace apimesh::aggregator
