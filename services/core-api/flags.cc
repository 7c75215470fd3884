#include "services/core-api/flags.h"

namespace apimesh::core_api {

void Flags::Bind(flags::Binder& flags) {
  common.Bind(flags);
  etcd.Bind(flags);
  admission.Bind(flags);
  flags.Bind("enable-aggregator-routing", enable_aggregator_routing);
  kubelet.Bind(flags);
  leadership.Bind(flags);
  tolerations.Bind(flags);
  flags.Bind("extensions-api", extensions_api);
  flags.Require("extensions-api");
  flags.Bind("authn-authz", authn_authz);
  flags.Bind("api-groups", api_groups);
  flags.Bind("advertise-address", advertise_address);
  flags.Bind("secure-port", secure_port);
  flags.Bind("service-cluster-ip-range", service_cluster_ip_range);
  flags.Bind("service-node-port-range", service_node_port_range);
  flags.Bind("kubernetes-service-node-port", kubernetes_service_node_port);
  flags.Bind("service-repair-interval", service_repair_interval);
  flags.Bind("endpoint-reconciler-type", endpoint_reconciler_type);
  flags.Bind("apiserver-count", apiserver_count);
  flags.Bind("authorization-mode", authorization_mode);
  flags.Bind("service-account-issuer", service_account_issuer);
  flags.Bind("service-account-key-file", service_account_key_file);
  flags.Bind("api-audiences", api_audiences);
  flags.Bind("service-account-signing-key-file", service_account_signing_key_file);
  flags.Bind("service-account-jwks-uri", service_account_jwks_uri);
  flags.Bind("service-account-max-token-expiration", service_account_max_token_expiration);
  flags.Bind("service-account-extend-token-expiration", service_account_extend_token_expiration);
  flags.Bind("client-ca-file", client_ca_file);
  flags.Bind("requestheader-client-ca-file", requestheader_client_ca_file);
  flags.Bind("requestheader-allowed-names", requestheader_allowed_names);
  flags.Bind("requestheader-username-headers", requestheader_username_headers);
  flags.Bind("requestheader-uid-headers", requestheader_uid_headers);
  flags.Bind("requestheader-group-headers", requestheader_group_headers);
  flags.Bind("requestheader-extra-headers-prefix", requestheader_extra_headers_prefix);
  flags.Bind("runtime-config", runtime_config);
  flags.Bind("allow-privileged", allow_privileged);
  flags.Bind("storage-media-type", storage_media_type);
  flags.BindGiven("storage-media-type", storage_media_type_given);
  flags.Bind("event-ttl", event_ttl);
  flags.Bind("min-request-timeout", min_request_timeout);
  flags.Bind("delete-collection-workers", delete_collection_workers);
  flags.Bind("descriptions-file", descriptions_file);
}

}  // namespace apimesh::core_api
