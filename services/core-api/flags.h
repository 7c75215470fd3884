#pragma once

#include <string>
#include <vector>

#include "lib/admission/all_plugins.h"
#include "lib/admission/plugins/default_toleration_seconds/flags.h"
#include "lib/service/flags.h"
#include "services/core-api/connect/kubelet_options.h"
#include "services/core-api/leader_election/flags.h"

namespace apimesh::core_api {

/// All options of core-api. The flags are declared in the flags.inc files of lib/ and of the folders that read them.
struct Flags {
  service::CommonFlags common;
  service::EtcdFlags etcd;
  admission::PluginChoice admission;
  std::string extensions_api;           // address of the next server in the delegation chain
  std::string authn_authz;              // address of authn-authz
  std::vector<std::string> api_groups;  // empty: all

  // The kubernetes Service and its endpoints.
  std::string advertise_address;
  int secure_port;
  std::string service_cluster_ip_range;
  std::string service_node_port_range;
  int kubernetes_service_node_port;
  std::string service_repair_interval;
  std::string endpoint_reconciler_type;
  int apiserver_count;

  // Admission.
  bool enable_aggregator_routing;  // webhooks are called at the endpoints of their services
  admission::TolerationFlags tolerations;
  std::vector<std::string> authorization_mode;

  // Tokens of service accounts.
  std::vector<std::string> service_account_issuer, service_account_key_file, api_audiences;
  std::string service_account_signing_key_file, service_account_jwks_uri;
  std::string service_account_max_token_expiration;
  bool service_account_extend_token_expiration;

  KubeletOptions kubelet;
  LeadershipFlags leadership;

  // Published in the ConfigMap kube-system/extension-apiserver-authentication.
  std::string client_ca_file, requestheader_client_ca_file;
  std::vector<std::string> requestheader_allowed_names, requestheader_username_headers, requestheader_uid_headers,
      requestheader_group_headers, requestheader_extra_headers_prefix;

  std::vector<std::string> runtime_config;
  bool allow_privileged;
  std::string storage_media_type;
  bool storage_media_type_given = false;  // the default of kube-apiserver is not ours: without the flag, JSON is stored
  std::string event_ttl;
  int min_request_timeout;
  int delete_collection_workers;
  std::string descriptions_file;  // texts for the OpenAPI documents

  Flags() { flags::ApplyDefaults(*this); }
  void Bind(flags::Binder& flags);
};

}  // namespace apimesh::core_api
