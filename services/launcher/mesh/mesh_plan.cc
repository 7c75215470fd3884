#include "services/launcher/mesh/mesh_plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "lib/base/log.h"

namespace apimesh::launcher {
namespace {

std::string Socket(const Places& places, std::string_view service) {
  return fmt::format("unix:{}/{}.sock", places.sockets, service);
}

/// Whether a later occurrence of the same flag replaces this one. Lists add up instead.
bool IsOverridden(const CommandLine& flags, std::size_t index) {
  const Flag* flag = flags.given[index].first;
  switch (flag->type) {
    case FlagType::kStrings:
    case FlagType::kStringArray:
    case FlagType::kPairs:
    case FlagType::kMap:
    case FlagType::kCertificateAndKey: return false;
    default:
      return std::any_of(flags.given.begin() + static_cast<std::ptrdiff_t>(index) + 1, flags.given.end(),
                         [&](const auto& later) { return later.first == flag; });
  }
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
  for (std::size_t i = 0; i < flags.given.size(); ++i) {
    const auto& [flag, value] = flags.given[i];
    const bool list = flag->type == FlagType::kStrings || flag->type == FlagType::kMap;
    if (value.empty() && (list || flag->default_value.empty())) continue;  // says nothing
    if ((flag->services & service) && !IsOverridden(flags, i)) spec.arguments.push_back(fmt::format("--{}={}", flag->name, value));
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

  if (flags.Values("authorization-mode").empty() && flags.Value("authorization-config").empty()) {
    add(authn, "authorization-mode", "AlwaysAllow");
  }
  // Only authn-authz reads that file; the roles that every cluster begins with do no harm where RBAC is off.
  if (!flags.Value("authorization-config").empty()) add(core, "authorization-mode", "RBAC");
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
