#include "services/launcher/inspect/failing_webhooks.h"

#include <algorithm>

#include <fmt/format.h>

#include "services/launcher/inspect/metrics_text.h"
#include "services/launcher/inspect/probe.h"

namespace apimesh::launcher {
namespace {

constexpr std::string_view kMetric = "apimesh_admission_webhook_failing_seconds";

}  // namespace

std::string FailingWebhook::Describe() const {
  const char* kind = mutating ? "mutatingwebhookconfiguration" : "validatingwebhookconfiguration";
  std::string text =
      fmt::format("The webhook {} of {}/{} has been failing for {:.0f} s. ", name, kind, configuration, seconds);
  if (!rejects) return text + "Its failurePolicy is Ignore, so requests pass without it.";
  return text + fmt::format(
                    "Requests that it matches are rejected. To let them pass for an hour while it fails:\n"
                    "    ./apimesh kubectl annotate {} {} apimesh.io/ignore-webhook-failures-until=$(date -u -d '+1 "
                    "hour' +%FT%TZ)",
                    kind, configuration);
}

std::vector<FailingWebhook> FindFailingWebhooks(const RunFolder& folder, const RunFolder::State& state) {
  const std::optional<Address> server = ParseServer(state.server);
  if (!state.ready || !server) return {};
  const ClientCertificate administrator{folder.Pki() + "/admin.crt", folder.Pki() + "/admin.key"};
  return ReadFailingWebhooks(HttpsBody(server->host, server->port, "/metrics", administrator));
}

std::vector<FailingWebhook> ReadFailingWebhooks(std::string_view metrics) {
  std::vector<FailingWebhook> found;
  ForEachSample(metrics, [&found](const MetricSample& sample) {
    if (sample.name != kMetric) return;
    // Names of webhooks and configurations contain nothing that is escaped.
    const FailingWebhook webhook{sample.Label("name"), sample.Label("configuration"), sample.Label("type") == "admit",
                                 sample.Label("failure_policy") == "Fail", sample.value};
    const auto same = std::find_if(found.begin(), found.end(), [&](const FailingWebhook& other) {
      return other.name == webhook.name && other.configuration == webhook.configuration &&
             other.mutating == webhook.mutating;
    });
    if (same == found.end()) {
      found.push_back(webhook);
    } else {
      same->seconds = std::max(same->seconds, webhook.seconds);
    }
  });
  return found;
}

}  // namespace apimesh::launcher
