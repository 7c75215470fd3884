#include "services/launcher/mesh/mesh_plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <stdexcept>

#include "lib/base/log.h"

namespace apimesh::launcher {
namespace {

std::string Socket(const Places& places, std::string_view service) {
  return fmt::format("unix:{}/{}.sock", places.sockets, service);
}

ChildSpec Spec(const CommandLine& flags, const Places& places, std::string_view name, Service service) {
  ChildSpec spec;
  spec.name = name;
  spec.own_group = places.own_groups;
  spec.may_refuse = true;
  if (!places.logs.empty()) spec.log_file = fmt::format("{}/{}.log", places.logs, name);
  spec.arguments = {fmt::format("{}/{}", places.binaries, name)};
  spec.arguments.push_back("--log-format=" + flags.Value("logging-format"));
  if (std::atoi(flags.Value("v").c_str()) >= 4) spec.arguments.push_back("--log-level=debug");
  for (const auto& [flag, value] : flags.given) {
    if (flag->services & service) spec.arguments.push_back(fmt::format("--{}={}", flag->name, value));
  }
  return spec;
}

void SayWhatHasNoEffect(const CommandLine& flags) {
  for (const auto& [flag, value] : flags.given) {
    if (flag->services == kNobody && value != flag->default_value) {
      log::Info("--{}={} is accepted and has no effect yet", flag->name, value);
    }
  }
}

bool Contains(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// The Node authorizer lets a node read what its pods refer to, and NodeRestriction limits the pods that it can create.
void WarnOfUnrestrictedNodes(const CommandLine& flags) {
  if (!Contains(flags.Values("authorization-mode"), "Node")) return;
  if (Contains(flags.Values("admission-control"), "NodeRestriction")) return;
  const bool enabled = Contains(flags.Values("enable-admission-plugins"), "NodeRestriction");
  if (enabled && !Contains(flags.Values("disable-admission-plugins"), "NodeRestriction")) return;
  log::Warning("--authorization-mode has Node, but the admission plugin NodeRestriction is off: the credential of a node can read every Secret. "
               "Add --enable-admission-plugins=NodeRestriction");
}

}  // namespace

std::string FrontProxySocket(const Places& places) { return Socket(places, "edge"); }
std::string FrontProxyH2Socket(const Places& places) { return Socket(places, "edge-h2"); }

std::vector<ChildSpec> PlanServices(const CommandLine& flags, const Places& places, bool front_proxy) {
  SayWhatHasNoEffect(flags);
  WarnOfUnrestrictedNodes(flags);
  ChildSpec authn = Spec(flags, places, "authn-authz", kAuthnAuthz);
  ChildSpec extensions = Spec(flags, places, "extensions-api", kExtensionsApi);
  ChildSpec core = Spec(flags, places, "core-api", kCoreApi);
  ChildSpec aggregator = Spec(flags, places, "aggregator", kAggregator);

  const auto add = [](ChildSpec& spec, std::string_view flag, const std::string& value) {
    spec.arguments.push_back(fmt::format("--{}={}", flag, value));
  };
  for (ChildSpec* spec : {&authn, &extensions, &core}) add(*spec, "listen", Socket(places, spec->name));
  for (ChildSpec* spec : {&authn, &extensions, &aggregator}) add(*spec, "core-api", Socket(places, "core-api"));
  for (ChildSpec* spec : {&core, &aggregator}) add(*spec, "extensions-api", Socket(places, "extensions-api"));
  for (ChildSpec* spec : {&core, &extensions, &aggregator}) add(*spec, "authn-authz", Socket(places, "authn-authz"));

  if (!flags.Has("authorization-mode") && !flags.Has("authorization-config")) {
    add(authn, "authorization-mode", "AlwaysAllow");
  }
  // Only authn-authz reads that file; the roles that every cluster begins with do no harm where RBAC is off.
  if (flags.Has("authorization-config")) add(core, "authorization-mode", "RBAC");
  add(core, "secure-port", flags.Value("secure-port"));
  if (!flags.Has("secure-port")) add(aggregator, "secure-port", flags.Value("secure-port"));
  if (!flags.Has("bind-address")) add(aggregator, "bind-address", flags.Value("bind-address"));
  if (const std::string version = flags.Value("version"); version.starts_with('v')) add(aggregator, "version-override", version);
  if (front_proxy) {
    add(aggregator, "front-proxy-socket", FrontProxySocket(places));
    add(aggregator, "front-proxy-h2-socket", FrontProxyH2Socket(places));
  }
  // core-api first: everyone else watches it.
  return {std::move(core), std::move(extensions), std::move(authn), std::move(aggregator)};
}

std::vector<std::string> ValidateTogether(const CommandLine& flags) {
  std::vector<std::string> errors;
  if (flags.Values("etcd-servers").empty()) errors.push_back("--etcd-servers must be specified");
  if (const std::string backend = flags.Value("storage-backend"); !backend.empty() && backend != "etcd3") {
    errors.push_back(fmt::format("--storage-backend invalid, allowed values: etcd3. If not specified, it will default to 'etcd3', got {}", backend));
  }
  if (flags.Value("encryption-provider-config-automatic-reload") == "true" && flags.Value("encryption-provider-config").empty()) {
    errors.push_back("--encryption-provider-config-automatic-reload must be set with --encryption-provider-config");
  }
  if (const int port = std::atoi(flags.Value("secure-port").c_str()); port < 1 || port > 65535) {
    errors.push_back(fmt::format("--secure-port {} must be between 1 and 65535, inclusive. It cannot be turned off with 0", port));
  }
  if (flags.Values("service-account-issuer").empty()) errors.push_back("service-account-issuer is a required flag");
  if (flags.Values("service-account-key-file").empty() && flags.Value("service-account-signing-endpoint").empty()) {
    errors.push_back("either `--service-account-key-file` or `--service-account-signing-endpoint` must be set");
  }
  if (flags.Value("service-account-signing-key-file").empty() && flags.Value("service-account-signing-endpoint").empty()) {
    errors.push_back("--service-account-signing-key-file and --service-account-issuer are required flags");
  }
  if (flags.Value("tls-cert-file").empty() != flags.Value("tls-private-key-file").empty()) {
    errors.push_back("--tls-cert-file and --tls-private-key-file must be given together");
  }
  for (const std::string& mode : flags.Values("authorization-mode")) {
    static constexpr std::string_view kModes[] = {"AlwaysAllow", "AlwaysDeny", "ABAC", "Webhook", "RBAC", "Node"};
    if (std::find(std::begin(kModes), std::end(kModes), mode) == std::end(kModes)) {
      errors.push_back(fmt::format("authorization-mode \"{}\" is not a valid mode", mode));
    }
  }
  if (const std::string records = flags.Value("tls-records"); records != "own" && records != "openssl") {
    errors.push_back(fmt::format("--tls-records invalid, allowed values: own, openssl; got \"{}\"", records));
  }
  const std::vector<std::string> enabled = flags.Values("enable-admission-plugins"), disabled = flags.Values("disable-admission-plugins");
  if (flags.Has("admission-control") && !(enabled.empty() && disabled.empty())) {
    errors.push_back("admission-control and enable-admission-plugins/disable-admission-plugins flags are mutually exclusive");
  }
  std::set<std::string> both;
  for (const std::string& name : enabled) {
    if (std::find(disabled.begin(), disabled.end(), name) != disabled.end()) both.insert(name);
  }
  if (!both.empty()) {
    errors.push_back(fmt::format("[{}] in enable-admission-plugins and disable-admission-plugins overlapped", fmt::join(both, " ")));
  }
  for (const std::string_view flag : {"tls-cert-file", "tls-private-key-file", "client-ca-file", "token-auth-file", "etcd-cafile",
                                      "etcd-certfile", "etcd-keyfile", "requestheader-client-ca-file", "audit-policy-file",
                                      "service-account-signing-key-file", "authorization-policy-file", "authentication-config",
                                      "authorization-config", "encryption-provider-config"}) {
    const std::string path = flags.Value(flag);
    if (!path.empty() && ::access(path.c_str(), R_OK) != 0) {
      errors.push_back(fmt::format("--{}: open {}: {}", flag, path, std::strerror(errno)));
    }
  }
  for (const std::string& path : flags.Values("service-account-key-file")) {
    if (::access(path.c_str(), R_OK) != 0) errors.push_back(fmt::format("--service-account-key-file: open {}: {}", path, std::strerror(errno)));
  }
  return errors;
}

std::string MakeSocketFolder() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  std::string pattern = std::string(runtime && ::access(runtime, W_OK) == 0 ? runtime : "/tmp") + "/apimesh-XXXXXX";
  if (!::mkdtemp(pattern.data())) throw std::runtime_error(fmt::format("can't make a folder for sockets: {}", std::strerror(errno)));
  return pattern;
}

void RemoveSocketFolder(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

std::string OwnFolder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path().string(); }

}  // namespace apimesh::launcher
