#include "lib/service/egress/egress_config.h"

#include <stdexcept>

#include <gtest/gtest.h>

namespace apimesh::service {
namespace {

constexpr const char* kHead =
    "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n";

std::string ErrorOf(const std::string& selections) {
  try {
    ParseEgressConfig(kHead + selections);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(EgressConfig, ReadsConnections) {
  const auto config = ParseEgressConfig(std::string(kHead) + R"(
- {name: Cluster, connection: {proxyProtocol: HTTPConnect, transport: {uds: {udsName: /run/proxy.sock}}}}
- {name: controlplane, connection: {proxyProtocol: Direct}}
- {name: etcd, connection: {proxyProtocol: HTTPConnect, transport: {tcp: {url: "http://127.0.0.1:8131"}}}}
)");
  ASSERT_EQ(config.size(), 3U);
  EXPECT_EQ(config.at(http::Network::kCluster).socket_path, "/run/proxy.sock");
  EXPECT_EQ(config.at(http::Network::kControlPlane).protocol, "Direct");
  EXPECT_EQ(config.at(http::Network::kEtcd).url, "http://127.0.0.1:8131");
}

struct Case {
  const char* name;
  const char* selections;
  const char* want;
};
const Case kCases[] = {
    {"Name", "- {name: pods, connection: {proxyProtocol: Direct}}",
     R"(service.connection: Unsupported value: "pods": supported values: "cluster", "controlplane", "etcd")"},
    {"Twice",
     "- {name: etcd, connection: {proxyProtocol: Direct}}\n- {name: ETCD, connection: {proxyProtocol: Direct}}",
     R"(service.connection[1]: Duplicate value: "etcd")"},
    {"Protocol", "- {name: etcd, connection: {proxyProtocol: SOCKS}}",
     R"(service.connection.protocol: Unsupported value: "SOCKS": supported values: "Direct", "HTTPConnect", "GRPC")"},
    {"DirectTransport", "- {name: etcd, connection: {proxyProtocol: Direct, transport: {}}}",
     R"(service.connection.transport: Invalid value: "direct": config must be absent for direct connect)"},
    {"NoTransport", "- {name: etcd, connection: {proxyProtocol: HTTPConnect}}",
     "service.connection.transport: Required value: transport must be set for HTTPConnect"},
    {"EmptyTransport", "- {name: etcd, connection: {proxyProtocol: HTTPConnect, transport: {}}}",
     "service.connection.tcp: Required value: One of TCP or UDS must be set"},
    {"Scheme", "- {name: etcd, connection: {proxyProtocol: HTTPConnect, transport: {tcp: {url: 'ftp://a'}}}}",
     R"(service.connection.url: Invalid value: "ftp://a": supported connection protocols are http:// and https://)"},
    {"NoTls", "- {name: etcd, connection: {proxyProtocol: HTTPConnect, transport: {tcp: {url: 'https://a'}}}}",
     "service.connection.tlsConfig: Required value: TLSConfig must be present when using HTTPS"},
    {"TlsFiles",
     "- {name: etcd, connection: {proxyProtocol: HTTPConnect, transport: {tcp: {url: 'https://a', tlsConfig: "
     "{caBundle: /nowhere/ca}}}}}",
     R"([service.connection.tlsConfig.caBundle: Invalid value: "/nowhere/ca": TLS config ca bundle does not exist, )"
     R"(service.connection.tlsConfig.clientCert: Invalid value: "nil": Using TLS requires clientCert, )"
     R"(service.connection.tlsConfig.clientKey: Invalid value: "nil": Using TLS requires requires clientKey])"},
    {"NoSocket", "- {name: etcd, connection: {proxyProtocol: HTTPConnect, transport: {uds: {}}}}",
     R"(service.connection.udsName: Invalid value: "nil": must be present for UDS connections)"},
    {"GrpcOverTcp", "- {name: etcd, connection: {proxyProtocol: GRPC, transport: {tcp: {url: 'http://a'}}}}",
     "service.connection.uds: Required value: UDS must be set with GRPC"},
};

TEST(EgressConfig, ReportsErrorsOfKubeApiserver) {
  for (const Case& c : kCases) {
    EXPECT_EQ(ErrorOf(c.selections), std::string("failed to validate egress selector configuration: ") + c.want)
        << c.name;
  }
  EXPECT_EQ(ErrorOf("- {name: etcd, connection: {proxyProtocol: Direct}, port: 1}"),
            "failed to read egress selector config: strict decoding error: unknown field \"egressSelections[0].port\"");
  EXPECT_NE(ErrorOf("- {name: etcd, connection: {proxyProtocol: GRPC, transport: {uds: {udsName: /a}}}}"), "");
}

}  // namespace
}  // namespace apimesh::service
