#include "services/launcher/mesh/envoy_config.h"

#include <filesystem>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "lib/mesh/identity.h"

namespace apimesh::launcher {
namespace {

namespace json = boost::json;

json::value File(const std::string& path) { return json::object{{"filename", path}}; }

json::value Typed(std::string_view type, json::object config) {
  json::object typed{{"@type", "type.googleapis.com/" + std::string(type)}};
  for (auto& member : config) typed.insert(std::move(member));
  return typed;
}

json::value Address(const std::string& host, int port) {
  return json::object{{"socket_address", {{"address", host}, {"port_value", port}}}};
}

constexpr std::string_view kServing = "serving", kMesh = "mesh";  // names of secrets

std::string SecretFile(std::string_view name) { return fmt::format("envoy-{}.json", name); }

std::string Secret(std::string_view name, const std::string& certificate, const std::string& key) {
  json::object pair{{"certificate_chain", File(certificate)},
                    {"private_key", File(key)},
                    {"watched_directory", {{"path", std::filesystem::path(certificate).parent_path().string()}}}};
  const json::value secret =
      Typed("envoy.extensions.transport_sockets.tls.v3.Secret", {{"name", name}, {"tls_certificate", std::move(pair)}});
  return json::serialize(json::object{{"resources", json::array{secret}}});
}

/// Refers to a file of EnvoySecrets().
json::value SecretReference(std::string_view name, const EnvoyOptions& options) {
  const std::string path = fmt::format("{}/{}", options.secrets_folder, SecretFile(name));
  return json::array{json::object{
      {"name", name}, {"sds_config", {{"resource_api_version", "V3"}, {"path_config_source", {{"path", path}}}}}}};
}

json::value AccessLog(const std::string& path) {
  // The log contains no headers except the user agent and the audit id, because others may contain credentials.
  json::object format{
      {"time", "%START_TIME%"},       {"method", "%REQ(:METHOD)%"},   {"path", "%REQ(:PATH)%"},
      {"protocol", "%PROTOCOL%"},     {"code", "%RESPONSE_CODE%"},    {"flags", "%RESPONSE_FLAGS%"},
      {"bytes", "%BYTES_SENT%"},      {"milliseconds", "%DURATION%"}, {"client", "%DOWNSTREAM_REMOTE_ADDRESS%"},
      {"agent", "%REQ(USER-AGENT)%"}, {"auditID", "%RESP(AUDIT-ID)%"}};
  return json::array{
      json::object{{"name", "file"},
                   {"typed_config", Typed("envoy.extensions.access_loggers.file.v3.FileAccessLog",
                                          {{"path", path}, {"log_format", {{"json_format", std::move(format)}}}})}}};
}

json::value HttpFilters(const EnvoyOptions& options) {
  json::array filters;
  if (!options.ext_authz.empty()) {
    filters.push_back(
        json::object{{"name", "ext_authz"},
                     {"typed_config",
                      Typed("envoy.extensions.filters.http.ext_authz.v3.ExtAuthz",
                            {{"transport_api_version", "V3"},
                             {"grpc_service", {{"envoy_grpc", {{"cluster_name", "authn-authz"}}}, {"timeout", "2s"}}},
                             {"include_peer_certificate", true},
                             {"encode_raw_headers", true},  // repeated headers are not joined
                             // The aggregator authorizes every request itself, so requests may pass while authn-authz
                             // restarts.
                             {"failure_mode_allow", true}})}});
  }
  filters.push_back(
      // Envoy's per-request statistics and headers are disabled: they are not used, and clients should get the
      // aggregator's response unchanged.
      json::object{{"name", "router"},
                   {"typed_config", Typed("envoy.extensions.filters.http.router.v3.Router",
                                          {{"dynamic_stats", false}, {"suppress_envoy_headers", true}})}});
  return filters;
}

// Envoy retries only connection failures, on another replica. No server has received such a request, so a write can be
// retried safely. If a server may have received a request, the client decides whether to repeat it.
json::value RetryPolicy() {
  json::object another{
      {"name", "another"},
      {"typed_config", Typed("envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate", {})}};
  return json::object{{"retry_on", "connect-failure"},
                      {"num_retries", 2},
                      {"retry_host_predicate", json::array{std::move(another)}},
                      {"host_selection_retry_max_attempts", 3}};
}

json::object RouteTo(std::string_view cluster) {
  // Watches and exec sessions have no maximum duration in Envoy; the aggregator enforces timeouts.
  return {{"cluster", cluster}, {"timeout", "0s"}, {"idle_timeout", "0s"}, {"retry_policy", RetryPolicy()}};
}

/// Matches watch requests except WebSocket upgrades, which need HTTP/1.1.
json::object WatchMatch() {
  const json::object asked{{"name", "watch"}, {"present_match", true}};
  const json::object upgrade{{"name", "upgrade"}, {"present_match", false}};
  return {{"prefix", "/"}, {"query_parameters", json::array{asked}}, {"headers", json::array{upgrade}}};
}

json::value ConnectionManager(const EnvoyOptions& options) {
  json::array routes;
  if (!options.aggregator_watches.empty())
    routes.push_back(json::object{{"match", WatchMatch()}, {"route", RouteTo("aggregator-watches")}});
  routes.push_back(json::object{{"match", {{"prefix", "/"}}}, {"route", RouteTo("aggregator")}});
  json::object hosts{{"name", "all"}, {"domains", {"*"}}, {"routes", std::move(routes)}};
  return Typed("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
               {{"stat_prefix", "apimesh"},
                {"generate_request_id", false},  // the audit id identifies requests
                {"server_header_transformation", "PASS_THROUGH"},
                {"codec_type", "AUTO"},
                {"stream_idle_timeout", "0s"},  // watches and exec sessions may be idle
                {"request_headers_timeout", "32s"},
                // The time from the first byte of a request to the last byte of its body. It does not apply once the
                // response has started, as with watches and upgraded connections. It is slightly longer than the
                // aggregator's limit, whose error response is more useful.
                {"request_timeout", "65s"},
                {"common_http_protocol_options",
                 {{"idle_timeout", "90s"}, {"headers_with_underscores_action", "REJECT_REQUEST"}}},
                // With Envoy's default windows, a client could send 256 MiB per stream before flow control stops it.
                {"http2_protocol_options",
                 {{"max_concurrent_streams", 250},
                  {"initial_stream_window_size", 64 << 10},
                  {"initial_connection_window_size", 1 << 20},
                  {"allow_connect", true}}},
                {"max_request_headers_kb", 1024},
                // Envoy forwards paths unchanged, including encoded and repeated slashes, because only the aggregator
                // interprets them.
                {"normalize_path", false},
                {"merge_slashes", false},
                {"use_remote_address", true},
                {"skip_xff_append", false},
                {"forward_client_cert_details", "SANITIZE_SET"},
                {"set_current_client_cert_details", {{"cert", true}, {"chain", true}}},
                {"upgrade_configs",
                 json::array{json::object{{"upgrade_type", "websocket"}}, json::object{{"upgrade_type", "SPDY/3.1"}}}},
                {"access_log", AccessLog(options.access_log)},
                {"route_config", {{"name", "all"}, {"virtual_hosts", json::array{std::move(hosts)}}}},
                {"http_filters", HttpFilters(options)}});
}

json::value Listener(const EnvoyOptions& options) {
  json::object common{
      {"alpn_protocols", {"h2", "http/1.1"}},
      {"tls_params", {{"tls_minimum_protocol_version", "TLSv1_2"}}},
      {"tls_certificate_sds_secret_configs", SecretReference(kServing, options)},
      // Client certificates are requested and forwarded. authn-authz verifies them, so that an invalid one gives a 401
      // instead of a failed handshake.
      {"validation_context",
       {{"trusted_ca", File(options.client_ca_file)}, {"trust_chain_verification", "ACCEPT_UNTRUSTED"}}}};
  json::object chain{
      {"transport_socket_connect_timeout", "10s"},  // limit for TLS handshakes
      {"transport_socket",
       {{"name", "tls"},
        {"typed_config", Typed("envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext",
                               {{"common_tls_context", std::move(common)}, {"require_client_certificate", false}})}}},
      {"filters", json::array{json::object{{"name", "http"}, {"typed_config", ConnectionManager(options)}}}}};
  return json::object{{"name", "edge"},
                      {"address", Address(options.listen_address, options.port)},
                      {"per_connection_buffer_limit_bytes", 1 << 20},
                      {"filter_chains", json::array{std::move(chain)}}};
}

json::value MeshTls(const EnvoyOptions& options, std::string_view process, json::array protocols) {
  json::object identity{{"san_type", "URI"}, {"matcher", {{"exact", mesh::IdentityOf(process)}}}};
  json::object tls{{"tls_certificate_sds_secret_configs", SecretReference(kMesh, options)},
                   {"validation_context",
                    {{"trusted_ca", File(options.mesh_ca_file)},
                     {"match_typed_subject_alt_names", json::array{std::move(identity)}}}}};
  if (!protocols.empty()) tls["alpn_protocols"] = std::move(protocols);
  return json::object{{"name", "tls"},
                      {"typed_config", Typed("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
                                             {{"common_tls_context", std::move(tls)}})}};
}

/// Returns the Envoy cluster of a mesh process at "unix:/path", or at "host:port" with the mesh's mTLS. `name` is the
/// name of the cluster, `process` the process whose identity the server must prove.
json::object MeshCluster(const EnvoyOptions& options, std::string_view name, std::string_view process,
                         const std::string& target, json::array protocols) {
  const bool local = target.starts_with("unix:");
  const std::size_t colon = target.rfind(':');
  json::value address = local ? json::value(json::object{{"pipe", {{"path", target.substr(5)}}}})
                              : Address(target.substr(0, colon), std::stoi(target.substr(colon + 1)));
  json::object endpoint{{"endpoint", {{"address", std::move(address)}}}};
  json::object cluster{
      {"name", name},
      {"type", local ? "STATIC" : "STRICT_DNS"},
      {"load_assignment",
       {{"cluster_name", name},
        {"endpoints", json::array{json::object{{"lb_endpoints", json::array{std::move(endpoint)}}}}}}}};
  if (!local) cluster["transport_socket"] = MeshTls(options, process, std::move(protocols));
  return cluster;
}

void SpeakHttp2(json::object& cluster, json::object options = {}) {
  json::object http2{{"explicit_http_config", {{"http2_protocol_options", std::move(options)}}}};
  cluster["typed_extension_protocol_options"] = {
      {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
       Typed("envoy.extensions.upstreams.http.v3.HttpProtocolOptions", std::move(http2))}};
}

// The cluster of authn-authz, which uses gRPC.
json::value AuthCluster(const EnvoyOptions& options) {
  json::object cluster = MeshCluster(options, "authn-authz", mesh::kAuthnAuthz, options.ext_authz, {"h2"});
  cluster["connect_timeout"] = "1s";
  SpeakHttp2(cluster);
  return cluster;
}

json::object AggregatorCluster(const EnvoyOptions& options, std::string_view name, const std::string& target,
                               json::array protocols) {
  // An aggregator that is down, or not yet up when Envoy starts, is probed ten times per second, so that Envoy soon
  // detects that it is available.
  json::object health{{"timeout", "2s"},
                      {"interval", "1s"},
                      {"unhealthy_interval", "0.1s"},
                      {"no_traffic_interval", "0.1s"},
                      {"no_traffic_healthy_interval", "2s"},
                      {"unhealthy_threshold", 3},
                      {"healthy_threshold", 1},
                      {"http_health_check", {{"path", "/livez"}}}};
  json::object limits{{"max_connections", 10000}, {"max_pending_requests", 10000}, {"max_requests", 100000}};
  json::object cluster = MeshCluster(options, name, mesh::kAggregator, target, std::move(protocols));
  cluster["connect_timeout"] = "2s";
  cluster["lb_policy"] = "LEAST_REQUEST";
  cluster["health_checks"] = json::array{std::move(health)};
  cluster["common_lb_config"] = {{"healthy_panic_threshold", {{"value", 0}}}};
  cluster["circuit_breakers"] = {{"thresholds", json::array{std::move(limits)}}};
  return cluster;
}

constexpr std::string_view kHeap = "envoy.resource_monitors.fixed_heap";

json::object Trigger(std::string_view resource, double at) {
  return {{"name", resource}, {"threshold", {{"value", at}}}};
}

/// Limits for all clients together. Connections above the limit are closed. When the heap fills up, Envoy first
/// releases free memory, then disables keep-alive, then refuses new requests, and finally new connections.
json::value OverloadManager(const EnvoyOptions& options) {
  json::array monitors{
      json::object{{"name", "envoy.resource_monitors.global_downstream_max_connections"},
                   {"typed_config",
                    Typed("envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig",
                          {{"max_active_downstream_connections", options.max_connections}})}},
      json::object{{"name", kHeap},
                   {"typed_config", Typed("envoy.extensions.resource_monitors.fixed_heap.v3.FixedHeapConfig",
                                          {{"max_heap_size_bytes", options.max_heap_bytes}})}}};
  json::array actions;
  const auto add = [&actions](std::string_view name, double at) {
    actions.push_back(json::object{{"name", name}, {"triggers", json::array{Trigger(kHeap, at)}}});
  };
  add("envoy.overload_actions.shrink_heap", 0.85);
  add("envoy.overload_actions.disable_http_keepalive", 0.9);
  add("envoy.overload_actions.stop_accepting_requests", 0.95);
  add("envoy.overload_actions.stop_accepting_connections", 0.98);
  return json::object{
      {"refresh_interval", "0.25s"}, {"resource_monitors", std::move(monitors)}, {"actions", std::move(actions)}};
}

}  // namespace

std::string EnvoyConfig(const EnvoyOptions& options) {
  json::array clusters{AggregatorCluster(options, "aggregator", options.aggregator, {})};
  if (!options.aggregator_watches.empty()) {
    json::object watches = AggregatorCluster(options, "aggregator-watches", options.aggregator_watches, {"h2"});
    // Data that a client does not read is limited by the window of its stream. The window of the connection is
    // practically unlimited, so that slow clients do not block the other streams.
    SpeakHttp2(watches, {{"initial_stream_window_size", 256 << 10}, {"initial_connection_window_size", 0x7fffffff}});
    watches["health_checks"].as_array()[0].as_object()["http_health_check"].as_object()["codec_client_type"] = "HTTP2";
    clusters.push_back(std::move(watches));
  }
  if (!options.ext_authz.empty()) clusters.push_back(AuthCluster(options));
  const json::object config{
      {"node", {{"id", "apimesh"}, {"cluster", "apimesh"}}},  // Envoy requires them to read secrets from a file
      {"static_resources", {{"listeners", json::array{Listener(options)}}, {"clusters", std::move(clusters)}}},
      {"overload_manager", OverloadManager(options)}};
  return json::serialize(config);
}

std::map<std::string, std::string> EnvoySecrets(const EnvoyOptions& options) {
  std::map<std::string, std::string> files{
      {SecretFile(kServing), Secret(kServing, options.cert_file, options.key_file)}};
  if (!options.mesh_cert_file.empty())
    files[SecretFile(kMesh)] = Secret(kMesh, options.mesh_cert_file, options.mesh_key_file);
  return files;
}

}  // namespace apimesh::launcher
