#include "services/core-api/flags.h"

#include <CLI/CLI.hpp>

namespace apimesh::core_api {

void Flags::AddTo(CLI::App& app) {
  common.AddTo(app);
  etcd.AddTo(app);
  const auto list = [&app](const char* name, std::vector<std::string>& values, const char* help) {
    app.add_option(name, values, help)->delimiter(',')->allow_extra_args(false);
  };
  const auto repeated = [&app](const char* name, std::vector<std::string>& values, const char* help) {
    app.add_option(name, values, help)->allow_extra_args(false);
  };
  app.add_option("--extensions-api", extensions_api, "address of extensions-api: unix:/path or host:port")->required();
  app.add_option("--authn-authz", authn_authz, "address of authn-authz: unix:/path or host:port");
  list("--api-groups", api_groups, "API groups to serve, \"core\" for the one without a name; default: all");

  app.add_option("--advertise-address", advertise_address, "address under which the cluster reaches the API");
  app.add_option("--secure-port", secure_port, "port under which clients reach the API")->capture_default_str();
  app.add_option("--service-cluster-ip-range", service_cluster_ip_range, "CIDR of cluster IPs; two for dual stack")->capture_default_str();
  app.add_option("--service-node-port-range", service_node_port_range, "ports of NodePort services")->capture_default_str();
  app.add_option("--endpoint-reconciler-type", endpoint_reconciler_type, "lease, master-count or none")->capture_default_str();

  list("--enable-admission-plugins", enable_admission_plugins, "plugins to add to the default set");
  list("--disable-admission-plugins", disable_admission_plugins, "plugins to leave out of the default set");
  list("--admission-control", admission_control, "exactly these plugins (deprecated)");
  app.add_flag("--allow-privileged", allow_privileged, "allow privileged containers");
  list("--authorization-mode", authorization_mode, "authorizers of the mesh, for kinds that depend on them");

  repeated("--service-account-issuer", service_account_issuer, "issuer of service-account tokens; the first one signs");
  repeated("--service-account-key-file", service_account_key_file, "keys that verify service-account tokens");
  list("--api-audiences", api_audiences, "audiences of the API; default: the issuers");
  app.add_option("--service-account-signing-key-file", service_account_signing_key_file, "key that signs tokens");
  app.add_option("--service-account-jwks-uri", service_account_jwks_uri, "address of the key set, if it is elsewhere");
  app.add_option("--service-account-max-token-expiration", service_account_max_token_expiration, "longest life of a token");
  app.add_flag("--service-account-extend-token-expiration", service_account_extend_token_expiration,
               "give injected tokens a year");

  app.add_option("--kubelet-certificate-authority", kubelet.ca_file, "CA of kubelets; none: any certificate is taken");
  app.add_option("--kubelet-client-certificate", kubelet.cert_file, "our certificate towards kubelets");
  app.add_option("--kubelet-client-key", kubelet.key_file, "its key");
  list("--kubelet-preferred-address-types", kubelet.address_types, "addresses of nodes, in the order of preference");

  app.add_option("--client-ca-file", client_ca_file, "CA of client certificates");
  app.add_option("--requestheader-client-ca-file", requestheader_client_ca_file, "CA of front proxies");
  list("--requestheader-allowed-names", requestheader_allowed_names, "common names of front proxies");
  list("--requestheader-username-headers", requestheader_username_headers, "headers with the user name");
  list("--requestheader-uid-headers", requestheader_uid_headers, "headers with the user id");
  list("--requestheader-group-headers", requestheader_group_headers, "headers with groups");
  list("--requestheader-extra-headers-prefix", requestheader_extra_headers_prefix, "prefixes of headers with more");

  list("--runtime-config", runtime_config, "switch groups, versions or resources on or off: api/all=true");
  app.add_option("--event-ttl", event_ttl, "how long events are kept")->capture_default_str();
  app.add_option("--min-request-timeout", min_request_timeout, "seconds that a watch stays open at least")->capture_default_str();
}

}  // namespace apimesh::core_api
