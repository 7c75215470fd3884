#include "services/launcher/mesh/envoy_config.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>

namespace apimesh::launcher {
namespace {

namespace json = boost::json;

/// The resources that clients can use in Envoy are limited, and none of the limits ends a watch.
TEST(EnvoyConfig, LimitsClients) {
  const json::value config =
      json::parse(EnvoyConfig({.aggregator = "unix:/a.sock", .max_connections = 123, .max_heap_bytes = 456}));
  const json::value& chain = config.at_pointer("/static_resources/listeners/0/filter_chains/0");
  EXPECT_EQ(chain.at("transport_socket_connect_timeout"), "10s");
  const json::value& http = chain.at_pointer("/filters/0/typed_config");
  EXPECT_EQ(http.at("request_headers_timeout"), "32s");
  EXPECT_EQ(http.at("request_timeout"), "65s");
  EXPECT_EQ(http.at("stream_idle_timeout"), "0s");
  const json::value& http2 = http.at("http2_protocol_options");
  EXPECT_EQ(http2.at("max_concurrent_streams"), 250);
  EXPECT_EQ(http2.at("initial_stream_window_size"), 65536);
  EXPECT_EQ(http2.at("initial_connection_window_size"), 1048576);
  const json::value& monitors = config.at_pointer("/overload_manager/resource_monitors");
  EXPECT_EQ(monitors.at(0).at_pointer("/typed_config/max_active_downstream_connections"), 123);
  EXPECT_EQ(monitors.at(1).at_pointer("/typed_config/max_heap_size_bytes"), 456);
  EXPECT_EQ(config.at_pointer("/overload_manager/actions").as_array().size(), 4u);
}

/// Envoy reloads certificates only if they are in a separate file that names the folder to watch.
TEST(EnvoyConfig, LoadsCertificatesFromSeparateFiles) {
  const EnvoyOptions options{.secrets_folder = "/x",
                             .cert_file = "/pki/apiserver.crt",
                             .key_file = "/pki/apiserver.key",
                             .aggregator = "unix:/a.sock"};
  const json::value config = json::parse(EnvoyConfig(options));
  const json::value& reference = config.at_pointer(
      "/static_resources/listeners/0/filter_chains/0/transport_socket/typed_config/common_tls_context/"
      "tls_certificate_sds_secret_configs/0");
  EXPECT_EQ(reference.at_pointer("/sds_config/path_config_source/path"), "/x/envoy-serving.json");
  const std::map<std::string, std::string> files = EnvoySecrets(options);
  ASSERT_EQ(files.size(), 1u);
  const json::value secrets = json::parse(files.at("envoy-serving.json"));
  const json::array& list = secrets.at("resources").as_array();
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0].at("name"), reference.at("name"));
  EXPECT_EQ(list[0].at_pointer("/tls_certificate/private_key/filename"), "/pki/apiserver.key");
  EXPECT_EQ(list[0].at_pointer("/tls_certificate/watched_directory/path"), "/pki");
}

/// Across machines, watches use HTTP/2 on the same port, and the aggregator must prove its identity for them as well.
TEST(EnvoyConfig, WatchesOfAnotherMachineCrossByHttp2) {
  const json::value config = json::parse(EnvoyConfig({.aggregator = "aggregator:8443",
                                                      .aggregator_watches = "aggregator:8443",
                                                      .mesh_ca_file = "/pki/mesh-ca.crt",
                                                      .mesh_cert_file = "/pki/mesh.crt",
                                                      .mesh_key_file = "/pki/mesh.key"}));
  const json::array& clusters = config.at_pointer("/static_resources/clusters").as_array();
  ASSERT_EQ(clusters.size(), 2u);
  const std::string tls = "/transport_socket/typed_config/common_tls_context";
  EXPECT_EQ(clusters[1].at("name"), "aggregator-watches");
  EXPECT_EQ(clusters[1].at_pointer(tls + "/alpn_protocols/0"), "h2");
  EXPECT_EQ(clusters[1].at_pointer(tls + "/validation_context"), clusters[0].at_pointer(tls + "/validation_context"));
  EXPECT_FALSE(clusters[0].at_pointer(tls).as_object().contains("alpn_protocols"));
  EXPECT_TRUE(clusters[1].as_object().contains("typed_extension_protocol_options"));
}

}  // namespace
}  // namespace apimesh::launcher
