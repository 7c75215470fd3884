#include "services/launcher/mesh/kube_apiserver.h"

#include <cstdio>
#include <stdexcept>

#include <fmt/format.h>

#include "lib/base/log.h"
#include "lib/base/resident_memory.h"
#include "lib/meta/kubernetes_version.h"
#include "services/launcher/flags/flag_parser.h"
#include "services/launcher/mesh/flag_values.h"
#include "services/launcher/mesh/mesh_plan.h"
#include "services/launcher/options/advertise_address.h"
#include "services/launcher/options/check_options.h"
#include "services/launcher/pki/cluster_pki.h"
#include "services/launcher/process/supervisor.h"

namespace apimesh::launcher {
namespace {

/// Sets a flag, overriding earlier values.
void Give(CommandLine& flags, std::string_view name, std::string value) {
  flags.given.emplace_back(FindKubeApiserverFlag(name), std::move(value));
}

/// Sets the values that kube-apiserver determines itself: its address and its certificate.
void Complete(CommandLine& flags) {
  const std::string bind = flags.Value("bind-address");
  Give(flags, "advertise-address", AdvertiseAddress(flags));
  if (flags.Value("external-hostname").empty()) {
    Give(flags, "external-hostname", flags.Value("advertise-address"));
    log::Info("external host was not specified, using {}", flags.Value("external-hostname"));
  }
  if (flags.Value("tls-cert-file").empty()) {
    const auto [certificate, key] = EnsureSelfSigned(
        flags.Value("cert-dir"), {flags.Value("advertise-address"), bind, flags.Value("external-hostname")});
    Give(flags, "tls-cert-file", certificate);
    Give(flags, "tls-private-key-file", key);
  }
}

/// Returns whether the options are valid; logs errors and warnings.
bool MayStart(const CommandLine& flags) {
  const Findings findings = CheckOptions(flags);
  for (const std::string& warning : findings.warnings) log::Warning("{}", warning);
  if (findings.errors.empty()) return true;
  log::Error("command failed: {}", Aggregate(findings.errors));
  return false;
}

}  // namespace

int RunKubeApiserver(const std::vector<std::string>& arguments, const Clock& clock) {
  CommandLine flags = ParseKubeApiserverFlags(arguments);
  if (flags.help) {
    std::fputs(KubeApiserverHelp().c_str(), stdout);
    return 0;
  }
  if (!flags.error.empty()) {
    fmt::print(stderr, "Error: {}\nRun \"kube-apiserver --help\" for the list of flags.\n", flags.error);
    return 1;
  }
  if (const std::string version = flags.Value("version"); version == "true") {
    fmt::print("Kubernetes {}\n", meta::kKubernetesVersion);
    return 0;
  } else if (version == "raw") {
    fmt::print(
        "version.Info{{Major:\"{}\", Minor:\"{}\", GitVersion:\"{}\", GitTreeState:\"clean\", Compiler:\"gcc\", "
        "Platform:\"linux/amd64\"}}\n",
        meta::kKubernetesMajor, meta::kKubernetesMinor, meta::kKubernetesVersion);
    return 0;
  }
  log::Init("launcher", flags.Value("logging-format") == "json" ? log::Format::kJson : log::Format::kText,
            log::Level::kInfo, clock);
  if (!MayStart(flags)) return 1;
  std::string sockets;
  int code = 0;
  try {
    Complete(flags);
    sockets = MakeSocketFolder();
    const Paths paths{.binaries = OwnFolder(), .sockets = sockets};
    WriteFlagValues(flags, FlagValuesFile(paths));
    Supervisor supervisor(PlanServices(flags, paths, false), clock);
    supervisor.OnTick(std::chrono::seconds(1), [&supervisor] {
      ReleaseIdlePages();
      supervisor.TickEvery(std::chrono::hours(1));
    });
    supervisor.Run();
  } catch (const std::exception& error) {
    log::Error("command failed: {}", error.what());
    code = 1;
  }
  if (!sockets.empty()) RemoveSocketFolder(sockets);
  return code;
}

}  // namespace apimesh::launcher
