#include "services/launcher/doctor/mesh_checks.h"

#include <algorithm>

#include <fmt/format.h>

#include "services/launcher/inspect/failing_webhooks.h"
#include "services/launcher/inspect/port_owner.h"
#include "services/launcher/inspect/probe.h"
#include "services/launcher/inspect/programs.h"
#include "services/launcher/pki/certificate.h"
#include "services/launcher/pki/certificate_folder.h"

namespace apimesh::launcher {
std::vector<Finding> CheckProcesses(const std::optional<RunFolder::State>& state) {
  if (!state) return {Good("mesh", "does not run; start it with: ./apimesh up")};
  std::vector<Finding> findings;
  for (const RunFolder::Process& process : state->processes) {
    const std::string advice = fmt::format("See why: ./apimesh logs {}", process.name);
    if (process.pid == 0) {
      findings.push_back(Problem("mesh", fmt::format("{} is down", process.name), advice));
    } else if (process.restarts > 0) {
      findings.push_back(
          Warning("mesh", fmt::format("{} was restarted {} times", process.name, process.restarts), advice));
    }
  }
  if (findings.empty()) findings.push_back(Good("mesh", fmt::format("{} processes run", state->processes.size())));
  return findings;
}

Finding CheckApi(const RunFolder& folder, const std::optional<RunFolder::State>& state, int port) {
  if (!state) {
    const std::optional<PortOwner> owner = FindPortOwner("0.0.0.0", port);
    if (!owner) return Good("port", fmt::format("{} is free", port));
    return Problem("port", fmt::format("{} is used by {}", port, owner->Describe()),
                   "Stop that process, or choose another port: ./apimesh up --port PORT");
  }
  const std::optional<Address> server = ParseServer(state->server);
  const ClientCertificate administrator{folder.Pki() + "/admin.crt", folder.Pki() + "/admin.key"};
  const int status = server ? HttpsStatus(server->host, server->port, "/readyz", &administrator) : 0;
  if (status == 200) return Good("API", fmt::format("ready at {}", state->server));
  return Problem(
      "API", fmt::format("{} answers {}", state->server, status ? fmt::format("with status {}", status) : "nothing"),
      "See which check fails: ./apimesh kubectl get --raw '/readyz?verbose'");
}

std::vector<Finding> CheckCertificates(const RunFolder& folder) {
  constexpr double kSoon = 30;
  std::vector<Finding> findings;
  double first = 0;
  int count = 0;
  for (const std::filesystem::path& file : CertificatesIn(folder.Pki())) {
    const double days = RemainingDays(ReadFile(file));
    first = count == 0 ? days : std::min(first, days);
    ++count;
    if (days >= kSoon) continue;
    const std::string name = file.filename().string();
    const std::string advice =
        "Restart the mesh (./apimesh down, ./apimesh up): it renews certificates when it starts and once a day. "
        "Authorities (ca.crt, front-proxy-ca.crt) must be replaced by hand.";
    if (days <= 0) {
      findings.push_back(Problem("certificates", fmt::format("{} has expired or can't be read", name), advice));
    } else {
      findings.push_back(Warning("certificates", fmt::format("{} expires in {:.0f} days", name, days), advice));
    }
  }
  if (count == 0) return {Good("certificates", "none yet; ./apimesh up makes them")};
  if (findings.empty())
    findings.push_back(Good("certificates", fmt::format("all {} are valid for at least {:.0f} days", count, first)));
  return findings;
}

std::vector<Finding> CheckWebhooks(const RunFolder& folder, const std::optional<RunFolder::State>& state) {
  if (!state) return {};
  std::vector<Finding> findings;
  for (const FailingWebhook& webhook : FindFailingWebhooks(folder, *state)) {
    const std::string what = fmt::format("{} of the configuration {} has failed for {:.0f} s", webhook.name,
                                         webhook.configuration, webhook.seconds);
    const std::string advice = webhook.rejects
                                   ? "It rejects requests. ./apimesh status shows how to let them pass."
                                   : "Its failurePolicy is Ignore: requests pass without it. Check its server.";
    findings.push_back(webhook.rejects ? Problem("webhooks", what, advice) : Warning("webhooks", what, advice));
  }
  if (findings.empty()) findings.push_back(Good("webhooks", "none has failed for 30 seconds"));
  return findings;
}

std::vector<Finding> CheckPrograms() {
  std::vector<Finding> findings;
  if (FindProgram("kubectl").empty())
    findings.push_back(Warning("programs", "kubectl is not installed",
                               "Install it (Debian: kubernetes-client), or use any other client with the kubeconfig."));
  if (FindEnvoy().empty())
    findings.push_back(Warning("programs", "Envoy is not installed",
                               "./apimesh deps installs it. Without it, clients connect to the aggregator directly."));
  if (findings.empty()) findings.push_back(Good("programs", "kubectl and Envoy are installed"));
  return findings;
}

}  // namespace apimesh::launcher
