#pragma once

#include <string>
#include <vector>

#include "lib/service/flags.h"
#include "services/core-api/connect/kubelet_options.h"

namespace apimesh::core_api {

struct Flags {
  service::CommonFlags common;
  service::EtcdFlags etcd;
  std::string extensions_api;           // the next server of the chain
  std::string authn_authz;              // where authn-authz is
  std::vector<std::string> api_groups;  // empty: all

  // The kubernetes Service and its endpoints.
  std::string advertise_address;
  int secure_port = 6443;
  std::string service_cluster_ip_range = "10.0.0.0/24";
  std::string service_node_port_range = "30000-32767";
  std::string endpoint_reconciler_type = "lease";

  // Admission.
  std::vector<std::string> enable_admission_plugins, disable_admission_plugins, admission_control;
  bool allow_privileged = false;
  std::vector<std::string> authorization_mode;

  // Tokens of service accounts.
  std::vector<std::string> service_account_issuer, service_account_key_file, api_audiences;
  std::string service_account_signing_key_file, service_account_jwks_uri;
  std::string service_account_max_token_expiration = "0s";
  bool service_account_extend_token_expiration = true;

  KubeletOptions kubelet;

  // What the ConfigMap kube-system/extension-apiserver-authentication tells other servers.
  std::string client_ca_file, requestheader_client_ca_file;
  std::vector<std::string> requestheader_allowed_names, requestheader_username_headers, requestheader_uid_headers,
      requestheader_group_headers, requestheader_extra_headers_prefix;

  std::vector<std::string> runtime_config;
  std::string event_ttl = "1h0m0s";
  int min_request_timeout = 1800;

  void AddTo(CLI::App& app);
};

}  // namespace apimesh::core_api
