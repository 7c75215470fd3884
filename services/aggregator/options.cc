#include "services/aggregator/options.h"

#include <yaml-cpp/yaml.h>

#include <CLI/CLI.hpp>

#include "lib/base/log.h"
#include "services/aggregator/filters/duration.h"

namespace apimesh::aggregator {
namespace {

constexpr char kAbout[] =
    "The edge of the mesh: takes HTTPS requests, asks authn-authz who is asking and whether they may, and hands each\n"
    "request to the server that has the resource.\n\n"
    "  aggregator --tls-cert-file=server.crt --tls-private-key-file=server.key --secure-port=6443 \\\n"
    "             --core-api=unix:/run/apimesh/core-api.sock --extensions-api=unix:/run/apimesh/extensions-api.sock \\\n"
    "             --authn-authz=unix:/run/apimesh/authn-authz.sock\n\n"
    "Look at it:  curl -k https://localhost:6443/readyz?verbose   curl -k https://localhost:6443/version\n"
    "`apimesh up` starts it with everything it needs.";

/// "a: 1" and "b: [x, y]" of a file as "--a=1 --b=x,y", to stand before the command line, which wins.
std::vector<std::string> ArgumentsOfFile(const std::string& path) {
  std::vector<std::string> arguments;
  for (const auto& entry : YAML::LoadFile(path)) {
    std::string value;
    if (entry.second.IsSequence()) {
      for (const YAML::Node& item : entry.second) value += (value.empty() ? "" : ",") + item.as<std::string>();
    } else {
      value = entry.second.as<std::string>();
    }
    arguments.push_back("--" + entry.first.as<std::string>() + "=" + value);
  }
  return arguments;
}

std::string ConfigFileOf(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].starts_with("--config=")) return arguments[i].substr(9);
    if (arguments[i] == "--config" && i + 1 < arguments.size()) return arguments[i + 1];
  }
  return "";
}

void AddDuration(CLI::App& app, const std::string& name, std::chrono::milliseconds& target, const std::string& help) {
  const auto read = [&target](const std::string& text) {
    const auto parsed = ParseGoDuration(text);
    if (!parsed) throw CLI::ValidationError(fmt::format("invalid duration \"{}\"", text));
    target = std::chrono::ceil<std::chrono::milliseconds>(*parsed);
  };
  app.add_option_function<std::string>(name, read, help)->default_str(fmt::format("{}ms", target.count()));
}

}  // namespace

bool ParseOptions(int argc, char** argv, Options& options, int& exit_code) {
  CLI::App app(kAbout, "aggregator");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast)->always_capture_default();
  std::string config_file, log_format = "text", log_level = "info";
  app.add_option("--config", config_file, "YAML file of flags (name: value); the command line wins");

  const auto list = [&app](const char* name, std::vector<std::string>& target, const char* help) {
    app.add_option(name, target, help)->delimiter(',')->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  auto* serving = &app;
  serving->add_option("--bind-address", options.bind_address, "address to listen on");
  serving->add_option("--secure-port", options.secure_port, "HTTPS port");
  serving->add_option("--tls-cert-file", options.tls_cert_file, "serving certificate, intermediates after it")->required();
  serving->add_option("--tls-private-key-file", options.tls_key_file, "its key")->required();
  serving->add_option("--tls-min-version", options.tls_min_version, "VersionTLS12 or VersionTLS13");
  list("--tls-cipher-suites", options.tls_cipher_suites, "cipher suites up to TLS 1.2, by their Go names");
  app.add_option("--tls-sni-cert-key", options.tls_sni, "certificate,key[:names]: another pair for clients that ask for these names")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("--client-ca-file", options.client_ca_file, "CA of client certificates, named to clients");
  app.add_option("--requestheader-client-ca-file", options.request_header_ca_file, "CA of front proxies, named to clients");
  app.add_option("--io-threads", options.io_threads, "threads that serve connections");

  app.add_option("--core-api", options.core_api, "gRPC target of core-api, such as unix:/path or dns:///host:port")->required();
  app.add_option("--extensions-api", options.extensions_api, "gRPC target of extensions-api")->required();
  app.add_option("--authn-authz", options.authn_authz, "gRPC target of authn-authz")->required();
  app.add_option("--mesh-port", options.mesh_port, "port for Envoy: demands a mesh certificate, believes what Envoy says of its client; 0: none");
  app.add_option("--mesh-ca-file", options.mesh_ca_file, "CA of the mesh");
  app.add_option("--mesh-cert-file", options.mesh_cert_file, "certificate inside the mesh");
  app.add_option("--mesh-key-file", options.mesh_key_file, "its key");

  AddDuration(app, "--request-timeout", options.chain.request_timeout, "time limit of a request that is not long-running");
  AddDuration(app, "--shutdown-delay-duration", options.shutdown_delay, "time between readiness going bad and the end of accepting requests");
  app.add_option("--max-requests-inflight", options.chain.max_requests_in_flight, "reads served at the same time; 0: no limit");
  app.add_option("--max-mutating-requests-inflight", options.chain.max_mutating_requests_in_flight, "writes served at the same time; 0: no limit");
  list("--cors-allowed-origins", options.chain.cors_allowed_origins, "regular expressions of origins that browsers may call from");
  list("--strict-transport-security-directives", options.chain.hsts_directives, "directives of the Strict-Transport-Security header");
  app.add_option("--audit-policy-file", options.audit_policy_file, "what is audited, and how much of it");
  app.add_option("--audit-log-path", options.audit_log.path, "audit log file; - is standard output");
  app.add_option("--audit-log-maxsize", options.audit_log.max_size_megabytes, "megabytes of a file before it is rotated");
  app.add_option("--audit-log-maxbackup", options.audit_log.max_backups, "rotated files that are kept; 0: all");
  app.add_option("--audit-log-maxage", options.audit_log.max_age_days, "days that rotated files are kept; 0: for ever");
  app.add_option("--version-override", options.version, "what /version says");
  app.add_option("--log-format", log_format, "text or json")->check(CLI::IsMember({"text", "json"}));
  app.add_option("--log-level", log_level, "debug, info, warning or error")->check(CLI::IsMember({"debug", "info", "warning", "error"}));

  std::vector<std::string> arguments(argv + 1, argv + argc);
  try {
    if (const std::string file = ConfigFileOf(arguments); !file.empty()) {
      const std::vector<std::string> from_file = ArgumentsOfFile(file);
      arguments.insert(arguments.begin(), from_file.begin(), from_file.end());
    }
    std::reverse(arguments.begin(), arguments.end());  // what CLI11 expects of a vector
    app.parse(arguments);
  } catch (const CLI::ParseError& error) {
    exit_code = app.exit(error) == 0 ? 0 : 1;
    return false;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "--config: %s\n", error.what());
    exit_code = 1;
    return false;
  }
  const log::Level level = log_level == "debug"     ? log::Level::kDebug
                           : log_level == "warning" ? log::Level::kWarning
                           : log_level == "error"   ? log::Level::kError
                                                    : log::Level::kInfo;
  log::Init("aggregator", log_format == "json" ? log::Format::kJson : log::Format::kText, level);
  return true;
}

}  // namespace apimesh::aggregator
