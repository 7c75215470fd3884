#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "lib/service/flags.h"
#include "services/aggregator/audit/audit_log.h"
#include "services/aggregator/filters/filters.h"
#include "services/aggregator/version.h"

namespace apimesh::aggregator {

struct Options {
  service::CommonFlags common;
  service::EtcdFlags etcd;  // where APIServices are kept
  std::string bind_address = "0.0.0.0";
  int secure_port = 6443;
  std::string tls_cert_file, tls_key_file, tls_min_version;
  std::vector<std::string> tls_cipher_suites;
  std::vector<std::string> tls_sni;  // "cert,key[:names]"
  std::string client_ca_file, request_header_ca_file;  // their names are told to clients; authn-authz judges by them

  int mesh_port = 0;  // 0: no port for a front proxy
  std::string mesh_bind_address = "127.0.0.1";
  std::string front_proxy_socket, front_proxy_h2_socket;  // "unix:/path"; "": no socket for one
  std::vector<std::string> core_api;  // gRPC targets, as the next; the first is the head of the chain, others have groups of their own
  std::string extensions_api, authn_authz;
  std::string proxy_client_cert_file, proxy_client_key_file;  // towards servers that APIServices register
  bool enable_aggregator_routing = false;
  std::vector<std::string> enable_admission_plugins, disable_admission_plugins, admission_control;  // for writes of APIServices

  std::size_t max_body_bytes_in_flight = 64 << 20;
  std::size_t max_connections = 0;  // 0: as many as the limit of file descriptors allows

  ChainOptions chain;
  std::string audit_policy_file;
  AuditLogOptions audit_log;
  std::string version = std::string(kDefaultVersion);

  Options() { common.io_threads = 2; }
  void AddTo(CLI::App& app);
};

/// What `aggregator --help` begins with.
extern const char* const kAbout;

}  // namespace apimesh::aggregator
