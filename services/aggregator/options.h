#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "services/aggregator/audit/audit_log.h"
#include "services/aggregator/filters/filters.h"
#include "services/aggregator/version.h"

namespace apimesh::aggregator {

struct Options {
  std::string bind_address = "0.0.0.0";
  int secure_port = 6443;
  std::string tls_cert_file, tls_key_file, tls_min_version;
  std::vector<std::string> tls_cipher_suites;
  std::vector<std::string> tls_sni;  // "cert,key[:names]"
  std::string client_ca_file, request_header_ca_file;  // their names are told to clients; authn-authz judges by them
  int io_threads = 2;

  int mesh_port = 0;  // 0: no door for a front proxy
  std::string mesh_ca_file, mesh_cert_file, mesh_key_file;
  std::string core_api, extensions_api, authn_authz;  // gRPC targets

  ChainOptions chain;
  std::string audit_policy_file;
  AuditLogOptions audit_log;
  std::chrono::milliseconds shutdown_delay{0};
  std::string version = std::string(kDefaultVersion);
};

/// Reads the command line (and a --config file). Returns true to go on; else `exit_code` is what to end with.
bool ParseOptions(int argc, char** argv, Options& options, int& exit_code);

}  // namespace apimesh::aggregator
