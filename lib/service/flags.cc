#include "lib/service/flags.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <thread>

#include "lib/http/record_buffer.h"
#include "lib/rpc/callers.h"

namespace apimesh::service {
namespace {

/// Reads --config: a YAML map of flag names to a value, a list of values, or a map (which becomes key=value pairs).
class YamlConfig final : public CLI::Config {
 public:
  std::string to_config(const CLI::App*, bool, bool, std::string) const override { return {}; }

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    YAML::Node root;
    try {
      root = YAML::Load(input);
    } catch (const YAML::Exception& error) {
      throw CLI::FileError(fmt::format("--config: {}", error.what()), CLI::ExitCodes::FileError);
    }
    std::vector<CLI::ConfigItem> items;
    if (root.IsNull()) return items;
    if (!root.IsMap()) throw CLI::FileError("--config: the file must be a map of flag names", CLI::ExitCodes::FileError);
    for (const auto& entry : root) {
      CLI::ConfigItem item;
      item.name = entry.first.as<std::string>();
      AddValues(entry.second, item.inputs);
      items.push_back(std::move(item));
    }
    return items;
  }

 private:
  static void AddValues(const YAML::Node& node, std::vector<std::string>& values) {
    if (node.IsSequence()) {
      for (const auto& value : node) values.push_back(value.as<std::string>());
    } else if (node.IsMap()) {
      for (const auto& pair : node) values.push_back(pair.first.as<std::string>() + "=" + pair.second.as<std::string>());
    } else {
      values.push_back(node.as<std::string>());
    }
  }
};

std::string CheckDuration(const std::string& text) {
  return ParseDuration(text) ? "" : fmt::format("time: invalid duration \"{}\"", text);
}

}  // namespace

int DefaultIoThreads() {
  // The other half is for the neighbours: a request keeps two or three processes busy, one after the other.
  return std::clamp(static_cast<int>(std::thread::hardware_concurrency()) / 2, 1, 8);
}

void CommonFlags::AddTo(CLI::App& app) {
  app.config_formatter(std::make_shared<YamlConfig>());
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.set_config("--config", "", "YAML file of flag names and values; the command line wins");
  app.add_option("--listen", listen, "where other processes of the mesh connect: unix:/path or host:port")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--mesh-ca-file", mesh_ca_file, "CA of the mesh, for addresses that are not Unix sockets");
  app.add_option("--mesh-cert-file", mesh_cert_file, "certificate of this process in the mesh");
  app.add_option("--mesh-key-file", mesh_key_file, "key of --mesh-cert-file");
  app.add_option("--health-address", health_address, "plain HTTP for /livez, /readyz, /metrics: unix:/path or host:port");
  app.add_option("--log-format", log_format, "text or json")->check(CLI::IsMember({"text", "json"}))->capture_default_str();
  app.add_option("--log-level", log_level, "debug, info, warning or error")
      ->check(CLI::IsMember({"debug", "info", "warning", "error"}))
      ->capture_default_str();
  app.add_option("--io-threads", io_threads, "threads that serve requests; default: half of the cores, at most 8")->check(CLI::Range(1, 64))->capture_default_str();
  // For the whole process: the port for clients as well as those for other processes of the mesh.
  const auto use_records = [](const std::string& maker) { http::UseOwnRecords(maker == "own"); };
  app.add_option_function<std::string>("--tls-records", use_records,
                                       "what encrypts TLS 1.3 records that are sent: own (faster AES-GCM, where the processor supports it) or openssl")
      ->check(CLI::IsMember({"own", "openssl"}))
      ->default_str("own");
  app.add_option("--shutdown-delay-duration", shutdown_delay_duration, "how long to go on serving after readiness is off")
      ->check(CheckDuration)
      ->capture_default_str();
  app.add_option("--request-timeout", request_timeout, "longest duration of a request that is no watch")
      ->check(CheckDuration)
      ->capture_default_str();
}

void EtcdFlags::AddTo(CLI::App& app) {
  app.add_option("--etcd-servers", servers, "etcd endpoints, comma separated: http(s)://host:port or unix:/path")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--etcd-cafile", ca_file, "CA that signed the certificate of etcd");
  app.add_option("--etcd-certfile", cert_file, "client certificate for etcd");
  app.add_option("--etcd-keyfile", key_file, "key of --etcd-certfile");
  app.add_option("--etcd-prefix", prefix, "prefix of all keys in the store")->capture_default_str();
  app.add_option("--etcd-servers-overrides", servers_overrides, "resources with an etcd of their own: group/resource#server;server")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--etcd-compaction-interval", compaction_interval, "time between compactions; 0: never")
      ->check(CheckDuration)
      ->capture_default_str();
  app.add_option("--lease-reuse-duration-seconds", lease_reuse_seconds, "how long one lease is shared by objects with a time to live")
      ->capture_default_str();
  app.add_option("--encryption-provider-config", encryption_provider_config,
                 "file that says which resources are encrypted in the store, and how");
  app.add_flag("--encryption-provider-config-automatic-reload", encryption_provider_config_automatic_reload,
               "take changes of that file without a restart");
}

std::vector<h2::Listener> CommonFlags::Listeners(std::string_view process) const {
  std::vector<h2::Listener> listeners;
  for (const std::string& address : listen) {
    listeners.push_back({address, mesh_ca_file, mesh_cert_file, mesh_key_file, rpc::CallersOf(process)});
  }
  return listeners;
}

rpc::Endpoint CommonFlags::EndpointOf(std::string_view process, const std::string& address) const {
  const bool complete = address.starts_with("unix:") || address.starts_with("dns:");
  return {complete ? address : "dns:///" + address, mesh_ca_file, mesh_cert_file, mesh_key_file, rpc::IdentityOf(process)};
}

std::optional<int> Parse(CLI::App& app, int argc, char** argv) {
  // CLI11 takes the argument after "--flag=" for its value: the flag after it would be lost, and with it perhaps a protection.
  std::vector<std::string> arguments;
  for (int i = 0; i < argc; ++i) {
    std::string argument = argv[i];
    const bool empty_value = argument.starts_with("--") && argument.find('=') == argument.size() - 1;
    if (empty_value) argument.pop_back();
    arguments.push_back(std::move(argument));
    if (empty_value) arguments.emplace_back();
  }
  std::vector<const char*> separated;
  for (const std::string& argument : arguments) separated.push_back(argument.c_str());
  try {
    app.parse(static_cast<int>(separated.size()), separated.data());
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::cerr << "Error: " << error.what() << '\n';
    return 1;
  }
}

}  // namespace apimesh::service
