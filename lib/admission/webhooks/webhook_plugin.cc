#include "lib/admission/webhooks/webhook_plugin.h"

namespace apimesh::admission::webhooks {
namespace {

/// A webhook that has been failing for this long is reported.
constexpr Duration kFailingFor = std::chrono::seconds(30);

meta::Gvr ResourceOf(Type type) {
  return {"admissionregistration.k8s.io", "v1",
          type == Type::kMutating ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations"};
}

CompileInputs CompileInputsOf(const PluginInputs& inputs, Type type, const std::shared_ptr<Clients>& clients) {
  return {.type = type,
          .client = [clients](service::WebhookConfig config) { return clients->Find(std::move(config)); },
          .metrics = inputs.metrics,
          .clock = inputs.clock};
}

}  // namespace

WebhookPlugin::WebhookPlugin(const PluginInputs& inputs, Type type)
    : phase_(type == Type::kMutating ? Phase::kMutate : Phase::kValidate),
      caller_(inputs, type),
      clients_(std::make_shared<Clients>(inputs)),
      configurations_(std::make_shared<const Configurations>(inputs.objects, ResourceOf(type),
                                                             CompileInputsOf(inputs, type, clients_))) {
  if (inputs.metrics) ReportFailing(*inputs.metrics, *inputs.clock);
}

bool WebhookPlugin::Handles(Phase phase, const Attributes& attributes) const {
  if (phase != phase_ || matching::IsAdmissionConfiguration(attributes)) return false;
  return !configurations_->Synced() || configurations_->Current()->index.Any(attributes);
}

Task<meta::Result<std::shared_ptr<const WebhookList>>> WebhookPlugin::WaitForWebhooks(
    meta::RequestContext ctx, const Attributes& attributes) const {
  const bool synced = co_await configurations_->WaitUntilSynced(std::move(ctx));
  if (!synced) co_return Forbidden(attributes, "not yet ready to handle request");
  co_return configurations_->Current();
}

void WebhookPlugin::ReportFailing(service::Metrics& metrics, const Clock& clock) const {
  const std::string type = phase_ == Phase::kMutate ? "admit" : "validating";
  metrics.AddSource([configurations = configurations_, type, &clock] {
    service::MetricFamily family;
    family.name = "apimesh_admission_webhook_failing_seconds";
    family.help =
        "For how long all calls of a webhook have failed. Webhooks that have failed for less than 30 seconds are "
        "omitted.";
    for (const WebhookPtr& webhook : configurations->Current()->webhooks) {
      const std::optional<SteadyTime> since = webhook->breaker->FailingSince();
      if (!since || clock.Steady() - *since < kFailingFor) continue;
      family.series.push_back({{{"name", webhook->name},
                                {"configuration", webhook->configuration},
                                {"type", type},
                                {"failure_policy", webhook->fails_open ? "Ignore" : "Fail"}},
                               std::chrono::duration<double>(clock.Steady() - *since).count()});
    }
    return std::vector<service::MetricFamily>{std::move(family)};
  });
}

}  // namespace apimesh::admission::webhooks
