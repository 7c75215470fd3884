#include "services/launcher/mesh/mesh_plan.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

#include "lib/base/log.h"

namespace apimesh::launcher {
namespace {

std::string Socket(const Paths& paths, std::string_view service) {
  return fmt::format("unix:{}/{}.sock", paths.sockets, service);
}

/// Returns whether a later occurrence of the same flag replaces this one. Values of list flags accumulate instead.
bool IsOverridden(const CommandLine& flags, std::size_t index) {
  const Flag* flag = flags.given[index].first;
  return !flags::IsList(flag->type) &&
         std::any_of(flags.given.begin() + static_cast<std::ptrdiff_t>(index) + 1, flags.given.end(),
                     [&](const auto& later) { return later.first == flag; });
}

ChildSpec Spec(const CommandLine& flags, const Paths& paths, std::string_view name, flags::Service service) {
  ChildSpec spec;
  spec.name = name;
  spec.own_group = paths.own_groups;
  spec.may_refuse = true;
  if (!paths.logs.empty()) spec.log_file = fmt::format("{}/{}.log", paths.logs, name);
  spec.arguments = {fmt::format("{}/{}", paths.binaries, name)};
  spec.arguments.push_back("--log-format=" + flags.Value("logging-format"));
  if (std::atoi(flags.Value("v").c_str()) >= 4) spec.arguments.push_back("--log-level=debug");
  for (std::size_t i = 0; i < flags.given.size(); ++i) {
    const auto& [flag, value] = flags.given[i];
    const bool list = flag->type == FlagType::kStrings || flag->type == FlagType::kMap;
    if (value.empty() && (list || flag->default_value.empty())) continue;  // the flag has no effect
    if ((flag->services & service) && !IsOverridden(flags, i))
      spec.arguments.push_back(fmt::format("--{}={}", flag->name, value));
  }
  return spec;
}

void SayWhatHasNoEffect(const CommandLine& flags) {
  for (const auto& [flag, value] : flags.given) {
    if (flag->services == flags::kNobody && value != flag->default_value) {
      log::Info("--{}={} is accepted and has no effect yet", flag->name, value);
    }
  }
}

bool Contains(const std::vector<std::string>& values, std::string_view value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

/// Warns about the Node authorizer without NodeRestriction. The authorizer lets a node read the objects to which its
/// pods refer, and NodeRestriction limits the pods that a node can create.
void WarnOfUnrestrictedNodes(const CommandLine& flags) {
  if (!Contains(flags.Values("authorization-mode"), "Node")) return;
  if (Contains(flags.Values("admission-control"), "NodeRestriction")) return;
  const bool enabled = Contains(flags.Values("enable-admission-plugins"), "NodeRestriction");
  if (enabled && !Contains(flags.Values("disable-admission-plugins"), "NodeRestriction")) return;
  log::Warning(
      "--authorization-mode has Node, but the admission plugin NodeRestriction is off: the credential of a node can "
      "read every Secret. "
      "Add --enable-admission-plugins=NodeRestriction");
}

}  // namespace

std::string FrontProxySocket(const Paths& paths) { return Socket(paths, "edge"); }
std::string FrontProxyH2Socket(const Paths& paths) { return Socket(paths, "edge-h2"); }
std::string ShardsFile(const Paths& paths) { return paths.sockets + "/shards.json"; }

ChildSpec PlanShard(const ChildSpec& common, const Paths& paths, std::string name, const std::string& group,
                    const std::string& address, const std::string& health_address) {
  ChildSpec spec = common;
  spec.name = std::move(name);
  spec.may_refuse = false;  // a shard that cannot start must not end the mesh
  if (!paths.logs.empty()) spec.log_file = fmt::format("{}/{}.log", paths.logs, spec.name);
  std::erase_if(spec.arguments, [](const std::string& one) { return one.starts_with("--listen="); });
  spec.arguments.insert(spec.arguments.end(), {"--listen=" + address, "--health-address=" + health_address, "--shard",
                                               "--api-groups=" + group});
  return spec;
}

std::string FlagValuesFile(const Paths& paths) { return paths.sockets + "/flags.json"; }

std::vector<ChildSpec> PlanServices(const CommandLine& flags, const Paths& paths, bool front_proxy) {
  SayWhatHasNoEffect(flags);
  WarnOfUnrestrictedNodes(flags);
  ChildSpec authn = Spec(flags, paths, "authn-authz", flags::kAuthnAuthz);
  ChildSpec extensions = Spec(flags, paths, "extensions-api", flags::kExtensionsApi);
  ChildSpec core = Spec(flags, paths, "core-api", flags::kCoreApi);
  ChildSpec aggregator = Spec(flags, paths, "aggregator", flags::kAggregator);

  const auto add = [](ChildSpec& spec, std::string_view flag, const std::string& value) {
    spec.arguments.push_back(fmt::format("--{}={}", flag, value));
  };
  for (ChildSpec* spec : {&authn, &extensions, &core}) add(*spec, "listen", Socket(paths, spec->name));
  for (ChildSpec* spec : {&authn, &extensions, &aggregator}) add(*spec, "core-api", Socket(paths, "core-api"));
  for (ChildSpec* spec : {&core, &aggregator}) add(*spec, "extensions-api", Socket(paths, "extensions-api"));
  for (ChildSpec* spec : {&core, &extensions, &aggregator}) add(*spec, "authn-authz", Socket(paths, "authn-authz"));

  // Only authn-authz reads that file. The default roles that core-api creates for RBAC have no effect if RBAC is off.
  if (!flags.Value("authorization-config").empty()) add(core, "authorization-mode", "RBAC");
  if (const std::string version = flags.Value("version"); version.starts_with('v'))
    add(aggregator, "version-override", version);
  add(aggregator, "flag-values-file", FlagValuesFile(paths));
  if (paths.shards) add(aggregator, "shards-file", ShardsFile(paths));
  if (front_proxy) {
    add(aggregator, "front-proxy-socket", FrontProxySocket(paths));
    add(aggregator, "front-proxy-h2-socket", FrontProxyH2Socket(paths));
  }
  // core-api starts first, because all other services watch it.
  return {std::move(core), std::move(extensions), std::move(authn), std::move(aggregator)};
}

std::string SocketFolderParent() {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  return runtime && ::access(runtime, W_OK) == 0 ? runtime : "/tmp";
}

std::string MakeSocketFolder() {
  std::string pattern = fmt::format("{}/{}XXXXXX", SocketFolderParent(), kSocketFolderPrefix);
  if (!::mkdtemp(pattern.data()))
    throw std::runtime_error(fmt::format("can't make a folder for sockets: {}", std::strerror(errno)));
  return pattern;
}

void RemoveSocketFolder(const std::string& folder) {
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
}

std::string OwnFolder() { return std::filesystem::read_symlink("/proc/self/exe").parent_path().string(); }

}  // namespace apimesh::launcher
