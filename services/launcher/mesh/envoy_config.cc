#include "services/launcher/mesh/envoy_config.h"

#include <boost/json.hpp>

#include "lib/rpc/identity.h"

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

json::value CertificatePair(const std::string& certificate, const std::string& key) {
  return json::array{json::object{{"certificate_chain", File(certificate)}, {"private_key", File(key)}}};
}

json::value AccessLog(const std::string& path) {
  // No headers but the user agent and the audit id: nothing that could hold a credential.
  json::object format{{"time", "%START_TIME%"}, {"method", "%REQ(:METHOD)%"}, {"path", "%REQ(:PATH)%"},
                      {"protocol", "%PROTOCOL%"}, {"code", "%RESPONSE_CODE%"}, {"flags", "%RESPONSE_FLAGS%"},
                      {"bytes", "%BYTES_SENT%"}, {"milliseconds", "%DURATION%"}, {"client", "%DOWNSTREAM_REMOTE_ADDRESS%"},
                      {"agent", "%REQ(USER-AGENT)%"}, {"auditID", "%RESP(AUDIT-ID)%"}};
  return json::array{json::object{
      {"name", "file"},
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
                             {"encode_raw_headers", true},  // repeated headers stay apart
                             // The aggregator checks everything itself, also while authn-authz is being restarted.
                             {"failure_mode_allow", true}})}});
  }
  filters.push_back(
      // Without counters and headers of its own for every request: nobody reads them, and clients should see our answer as it is.
      json::object{{"name", "router"},
                   {"typed_config", Typed("envoy.extensions.filters.http.router.v3.Router",
                                          {{"dynamic_stats", false}, {"suppress_envoy_headers", true}})}});
  return filters;
}

// A request that reached nobody is tried at another replica: it may be a write. One that may have been seen is the client's to repeat.
json::value RetryPolicy() {
  json::object another{{"name", "another"},
                       {"typed_config", Typed("envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate", {})}};
  return json::object{{"retry_on", "connect-failure"},
                      {"num_retries", 2},
                      {"retry_host_predicate", json::array{std::move(another)}},
                      {"host_selection_retry_max_attempts", 3}};
}

json::object RouteTo(std::string_view cluster) {
  // Watches and exec sessions last as long as they last; the aggregator has the time-outs.
  return {{"cluster", cluster}, {"timeout", "0s"}, {"idle_timeout", "0s"}, {"retry_policy", RetryPolicy()}};
}

/// What asks for a watch, but not by a WebSocket: that is HTTP/1.1's.
json::object WatchMatch() {
  const json::object asked{{"name", "watch"}, {"present_match", true}};
  const json::object upgrade{{"name", "upgrade"}, {"present_match", false}};
  return {{"prefix", "/"}, {"query_parameters", json::array{asked}}, {"headers", json::array{upgrade}}};
}

json::value ConnectionManager(const EnvoyOptions& options) {
  json::array routes;
  if (!options.aggregator_watches.empty()) routes.push_back(json::object{{"match", WatchMatch()}, {"route", RouteTo("aggregator-watches")}});
  routes.push_back(json::object{{"match", {{"prefix", "/"}}}, {"route", RouteTo("aggregator")}});
  json::object hosts{{"name", "all"}, {"domains", {"*"}}, {"routes", std::move(routes)}};
  return Typed("envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
               {{"stat_prefix", "apimesh"},
                {"generate_request_id", false},  // the audit id is enough
                {"server_header_transformation", "PASS_THROUGH"},
                {"codec_type", "AUTO"},
                {"stream_idle_timeout", "0s"},  // watches and exec sessions may be silent
                {"request_headers_timeout", "32s"},
                // From the first byte of a request to the last one of its body, unless it is answered before: watches are, and
                // upgraded connections. A little longer than the aggregator allows, whose answer is the better one.
                {"request_timeout", "65s"},
                {"common_http_protocol_options",
                 {{"idle_timeout", "90s"}, {"headers_with_underscores_action", "REJECT_REQUEST"}}},
                // Without windows of our own, a client could send 256 MiB on each stream before it is held back.
                {"http2_protocol_options",
                 {{"max_concurrent_streams", 250},
                  {"initial_stream_window_size", 64 << 10},
                  {"initial_connection_window_size", 1 << 20},
                  {"allow_connect", true}}},
                {"max_request_headers_kb", 1024},
                // The aggregator decides what a path means; Envoy must not have an opinion of its own, except that
                // slashes hidden by encoding and repeated slashes are refused or left to the aggregator unchanged.
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
  json::object common{{"alpn_protocols", {"h2", "http/1.1"}},
                      {"tls_params", {{"tls_minimum_protocol_version", "TLSv1_2"}}},
                      {"tls_certificates", CertificatePair(options.cert_file, options.key_file)},
                      // Certificates are asked for, passed on and judged by authn-authz: a bad one is a 401, not a broken handshake.
                      {"validation_context", {{"trusted_ca", File(options.client_ca_file)},
                                              {"trust_chain_verification", "ACCEPT_UNTRUSTED"}}}};
  json::object chain{
      {"transport_socket_connect_timeout", "10s"},  // unfinished TLS handshakes
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
  json::object identity{{"san_type", "URI"}, {"matcher", {{"exact", rpc::IdentityOf(process)}}}};
  json::object tls{{"tls_certificates", CertificatePair(options.mesh_cert_file, options.mesh_key_file)},
                   {"validation_context", {{"trusted_ca", File(options.mesh_ca_file)},
                                           {"match_typed_subject_alt_names", json::array{std::move(identity)}}}}};
  if (!protocols.empty()) tls["alpn_protocols"] = std::move(protocols);
  return json::object{{"name", "tls"},
                      {"typed_config", Typed("envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
                                             {{"common_tls_context", std::move(tls)}})}};
}

/// A process of the mesh at "unix:/path", or at "host:port" by the mesh's mTLS. `name` is the cluster's, `process` the one
/// whose identity the server must prove.
json::object MeshCluster(const EnvoyOptions& options, std::string_view name, std::string_view process, const std::string& place,
                         json::array protocols) {
  const bool local = place.starts_with("unix:");
  const std::size_t colon = place.rfind(':');
  json::value address = local ? json::value(json::object{{"pipe", {{"path", place.substr(5)}}}})
                              : Address(place.substr(0, colon), std::stoi(place.substr(colon + 1)));
  json::object endpoint{{"endpoint", {{"address", std::move(address)}}}};
  json::object cluster{{"name", name},
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

// gRPC.
json::value AuthCluster(const EnvoyOptions& options) {
  json::object cluster = MeshCluster(options, "authn-authz", rpc::kAuthnAuthz, options.ext_authz, {"h2"});
  cluster["connect_timeout"] = "1s";
  SpeakHttp2(cluster);
  return cluster;
}

json::object AggregatorCluster(const EnvoyOptions& options, std::string_view name, const std::string& place) {
  // One that is down, or not up yet when Envoy starts, is looked for ten times a second: it is back in less than that.
  json::object health{{"timeout", "2s"}, {"interval", "1s"}, {"unhealthy_interval", "0.1s"}, {"no_traffic_interval", "0.1s"},
                      {"no_traffic_healthy_interval", "2s"}, {"unhealthy_threshold", 3}, {"healthy_threshold", 1},
                      {"http_health_check", {{"path", "/livez"}}}};
  json::object limits{{"max_connections", 10000}, {"max_pending_requests", 10000}, {"max_requests", 100000}};
  json::object cluster = MeshCluster(options, name, rpc::kAggregator, place, {});
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

/// Limits for all clients together. Connections beyond their number are closed. When the heap fills up, idle clients lose
/// their connections first; then new requests, and at last new connections, are refused.
json::value OverloadManager(const EnvoyOptions& options) {
  json::array monitors{
      json::object{{"name", "envoy.resource_monitors.global_downstream_max_connections"},
                   {"typed_config", Typed("envoy.extensions.resource_monitors.downstream_connections.v3.DownstreamConnectionsConfig",
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
  return json::object{{"refresh_interval", "0.25s"}, {"resource_monitors", std::move(monitors)}, {"actions", std::move(actions)}};
}

}  // namespace

std::string EnvoyConfig(const EnvoyOptions& options) {
  json::array clusters{AggregatorCluster(options, "aggregator", options.aggregator)};
  if (!options.aggregator_watches.empty()) {
    json::object watches = AggregatorCluster(options, "aggregator-watches", options.aggregator_watches);
    // What a client does not read stays with its own stream: it must not use up what the connection may hold for all.
    SpeakHttp2(watches, {{"initial_stream_window_size", 256 << 10}, {"initial_connection_window_size", 0x7fffffff}});
    watches["health_checks"].as_array()[0].as_object()["http_health_check"].as_object()["codec_client_type"] = "HTTP2";
    clusters.push_back(std::move(watches));
  }
  if (!options.ext_authz.empty()) clusters.push_back(AuthCluster(options));
  const json::object config{
      {"static_resources", {{"listeners", json::array{Listener(options)}}, {"clusters", std::move(clusters)}}},
      {"overload_manager", OverloadManager(options)}};
  return json::serialize(config);
}

}  // namespace apimesh::launcher
