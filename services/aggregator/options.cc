#include "services/aggregator/options.h"

#include <CLI/CLI.hpp>

namespace apimesh::aggregator {

const char* const kAbout =
    "The edge of the mesh: takes HTTPS requests, asks authn-authz who is asking and whether they may, and hands each\n"
    "request to the server that has the resource.\n\n"
    "  aggregator --tls-cert-file=server.crt --tls-private-key-file=server.key --secure-port=6443 \\\n"
    "             --core-api=unix:/run/apimesh/core-api.sock --extensions-api=unix:/run/apimesh/extensions-api.sock \\\n"
    "             --authn-authz=unix:/run/apimesh/authn-authz.sock\n\n"
    "Look at it:  curl -k https://localhost:6443/readyz?verbose   curl -k https://localhost:6443/version\n"
    "`apimesh up` starts it with everything it needs.";

void Options::AddTo(CLI::App& app) {
  common.AddTo(app);
  etcd.AddTo(app);
  const auto list = [&app](const char* name, std::vector<std::string>& target, const char* help) {
    app.add_option(name, target, help)->delimiter(',')->allow_extra_args(false);
  };
  app.add_option("--bind-address", bind_address, "address to listen on")->capture_default_str();
  app.add_option("--secure-port", secure_port, "HTTPS port")->capture_default_str();
  app.add_option("--tls-cert-file", tls_cert_file, "serving certificate, intermediates after it")->required();
  app.add_option("--tls-private-key-file", tls_key_file, "its key")->required();
  app.add_option("--tls-min-version", tls_min_version, "VersionTLS12 or VersionTLS13");
  list("--tls-cipher-suites", tls_cipher_suites, "cipher suites up to TLS 1.2, by their Go names");
  app.add_option("--tls-sni-cert-key", tls_sni, "certificate,key[:names]: another pair for clients that ask for these names")
      ->allow_extra_args(false);
  app.add_option("--client-ca-file", client_ca_file, "CA of client certificates, named to clients");
  app.add_option("--requestheader-client-ca-file", request_header_ca_file, "CA of front proxies, named to clients");
  list("--requestheader-username-headers", chain.identity_headers.username, "headers by which front proxies name the user");
  list("--requestheader-uid-headers", chain.identity_headers.uid, "headers with the user id");
  list("--requestheader-group-headers", chain.identity_headers.group, "headers with groups");
  list("--requestheader-extra-headers-prefix", chain.identity_headers.extra_prefixes, "prefixes of headers with more");

  list("--core-api", core_api, "core-api: unix:/path or host:port; more, comma separated, that serve some groups each (--api-groups)");
  app.add_option("--extensions-api", extensions_api, "extensions-api: unix:/path or host:port")->required();
  app.add_option("--authn-authz", authn_authz, "authn-authz: unix:/path or host:port")->required();
  app.add_option("--proxy-client-cert-file", proxy_client_cert_file, "certificate by which registered API servers know us");
  app.add_option("--proxy-client-key-file", proxy_client_key_file, "its key");
  app.add_flag("--enable-aggregator-routing", enable_aggregator_routing,
               "send requests for registered API servers to endpoint addresses instead of the cluster address");
  list("--enable-admission-plugins", enable_admission_plugins, "admission plugins to add to the default set, for writes of APIServices");
  list("--disable-admission-plugins", disable_admission_plugins, "admission plugins to leave out of the default set");
  list("--admission-control", admission_control, "exactly these admission plugins (deprecated)");
  app.add_option("--mesh-port", mesh_port, "port for Envoy: demands a mesh certificate, believes what Envoy says of its client; 0: none")
      ->capture_default_str();
  app.add_option("--mesh-bind-address", mesh_bind_address, "address of --mesh-port; 0.0.0.0 if Envoy runs elsewhere")->capture_default_str();
  app.add_option("--front-proxy-socket", front_proxy_socket,
                 "unix:/path for an Envoy on this machine, believed as on --mesh-port: put it into a folder that only Envoy can enter");
  app.add_option("--front-proxy-h2-socket", front_proxy_h2_socket, "the same for requests by HTTP/2, which watches of many clients should take");

  app.add_option("--max-requests-inflight", chain.max_requests_in_flight, "reads served at the same time; 0: no limit")->capture_default_str();
  app.add_option("--max-mutating-requests-inflight", chain.max_mutating_requests_in_flight, "writes served at the same time; 0: no limit")
      ->capture_default_str();
  app.add_option("--max-body-bytes-inflight", max_body_bytes_in_flight,
                 "memory for bodies of requests that are served at the same time; one user gets a quarter of it; 0: no limit")
      ->capture_default_str();
  app.add_option("--max-connections", max_connections,
                 "connections of clients at the same time; 0: as many as the limit of file descriptors allows, with some to spare")
      ->capture_default_str();
  list("--cors-allowed-origins", chain.cors_allowed_origins, "regular expressions of origins that browsers may call from");
  list("--strict-transport-security-directives", chain.hsts_directives, "directives of the Strict-Transport-Security header");
  app.add_option("--audit-policy-file", audit_policy_file, "what is audited, and how much of it");
  app.add_option("--audit-log-path", audit_log.path, "audit log file; - is standard output");
  app.add_option("--audit-log-maxsize", audit_log.max_size_megabytes, "megabytes of a file before it is rotated")->capture_default_str();
  app.add_option("--audit-log-maxbackup", audit_log.max_backups, "rotated files that are kept; 0: all")->capture_default_str();
  app.add_option("--audit-log-maxage", audit_log.max_age_days, "days that rotated files are kept; 0: for ever")->capture_default_str();
  app.add_option("--version-override", version, "what /version says")->capture_default_str();
}

}  // namespace apimesh::aggregator
