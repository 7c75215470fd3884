#include "services/aggregator/options.h"

#include "services/aggregator/filters/chain.h"

namespace apimesh::aggregator {

const char* const kAbout =
    "The edge of the mesh: takes HTTPS requests, asks authn-authz who is asking and whether they may, and hands each\n"
    "request to the server that has the resource.\n\n"
    "  aggregator --tls-cert-file=server.crt --tls-private-key-file=server.key --secure-port=6443 \\\n"
    "             --core-api=unix:/run/apimesh/core-api.sock --extensions-api=unix:/run/apimesh/extensions-api.sock "
    "\\\n"
    "             --authn-authz=unix:/run/apimesh/authn-authz.sock\n\n"
    "Look at it:  curl -k https://localhost:6443/readyz?verbose   curl -k https://localhost:6443/version\n"
    "`apimesh up` starts it with everything it needs.";

void Options::Bind(flags::Binder& flags) {
  common.Bind(flags);
  etcd.Bind(flags);
  admission.Bind(flags);
  flags.Bind("enable-aggregator-routing", enable_aggregator_routing);
  flags.Bind("descriptions-file", descriptions_file);
  BindFilters(filters, flags);
  audit.Bind(flags);
  diagnostics.Bind(flags);
  metrics.Bind(flags);
  flags.Bind("bind-address", bind_address);
  flags.Bind("external-hostname", external_hostname);
  flags.Bind("secure-port", secure_port);
  flags.Bind("advertise-port", advertise_port);
  flags.Bind("permit-port-sharing", permit_port_sharing);
  flags.Bind("tls-cert-file", tls_cert_file);
  flags.Bind("tls-private-key-file", tls_key_file);
  flags.Bind("tls-min-version", tls_min_version);
  flags.Bind("tls-cipher-suites", tls_cipher_suites);
  flags.Bind("tls-curve-preferences", tls_curves);
  flags.Bind("tls-sni-cert-key", tls_sni);
  flags.Bind("max-connection-bytes-per-sec", tunnel_bytes_per_second);
  flags.Bind("shutdown-watch-termination-grace-period", watch_grace_period);
  flags.Bind("aggregator-reject-forwarding-redirect", reject_redirects);
  flags.Bind("disable-http2-serving", disable_http2);
  flags.Bind("http2-max-streams-per-connection", http2_streams);
  flags.Bind("client-ca-file", client_ca_file);
  flags.Bind("requestheader-client-ca-file", request_header_ca_file);
  flags.Bind("core-api", core_api);
  flags.Bind("shards-file", shards_file);
  flags.Bind("extensions-api", extensions_api);
  flags.Bind("authn-authz", authn_authz);
  flags.Bind("proxy-client-cert-file", proxy_client_cert_file);
  flags.Bind("proxy-client-key-file", proxy_client_key_file);
  flags.Bind("mesh-port", mesh_port);
  flags.Bind("mesh-bind-address", mesh_bind_address);
  flags.Bind("front-proxy-socket", front_proxy_socket);
  flags.Bind("front-proxy-h2-socket", front_proxy_h2_socket);
  flags.Bind("max-body-bytes-inflight", max_body_bytes_in_flight);
  flags.Bind("max-connections", max_connections);
  flags.Bind("version-override", version);
  for (const char* name : {"tls-cert-file", "tls-private-key-file", "extensions-api", "authn-authz"})
    flags.Require(name);
}

}  // namespace apimesh::aggregator
