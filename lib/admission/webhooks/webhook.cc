#include "lib/admission/webhooks/webhook.h"

#include <map>

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/admission/webhooks/bypass.h"

namespace apimesh::admission::webhooks {
namespace {

MatchConditions CompileConditions(const json::object& fields, const std::string& name, bool fails_open,
                                  const CompileInputs& inputs) {
  const json::array& conditions = ListAt(fields, "matchConditions");
  if (conditions.empty()) return {};
  // Stored expressions may use everything that this version knows.
  const ExpressionScope scope(cel::kCurrentMinor, false);
  const MatchConditions::Owner owner{name, "webhook", inputs.type == Type::kMutating ? "admit" : "validate"};
  return {&conditions,
          scope,
          {.authorizer = true},
          fails_open ? MatchConditions::FailurePolicy::kIgnore : MatchConditions::FailurePolicy::kFail,
          owner,
          inputs.metrics,
          inputs.clock};
}

std::optional<bool> AllowsDryRun(const json::object& fields) {
  if (!Has(fields, "sideEffects")) return std::nullopt;
  const std::string_view side_effects = meta::FindString(fields, "sideEffects");
  return side_effects == "None" || side_effects == "NoneOnDryRun";
}

std::shared_ptr<Breaker> BreakerOf(const std::string& id, const std::shared_ptr<const service::WebhookClient>& client,
                                   const std::vector<WebhookPtr>& known) {
  for (const WebhookPtr& webhook : known) {
    if (webhook->id == id && webhook->client == client) return webhook->breaker;
  }
  return std::make_shared<Breaker>();
}

}  // namespace

std::vector<WebhookPtr> CompileWebhooks(const meta::Object& configuration, const CompileInputs& inputs,
                                        const std::vector<WebhookPtr>& known) {
  std::vector<WebhookPtr> webhooks;
  std::map<std::string, int> names;  // how often a name has occurred
  const std::optional<WallTime> bypassed = BypassedUntil(configuration);
  ForEach(configuration.Root(), "webhooks", [&](const json::object& fields) {
    const std::string name(meta::FindString(fields, "name"));
    const bool fails_open = meta::FindString(fields, "failurePolicy") == "Ignore";
    Webhook webhook{.configuration = std::string(configuration.Name()),
                    .name = name,
                    .id = fmt::format("{}/{}/{}", configuration.Name(), name, names[name]++),
                    .criteria = matching::Criteria::OfWebhook(fields),
                    .conditions = CompileConditions(fields, name, fails_open, inputs)};
    webhook.fails_open = fails_open;
    webhook.allows_dry_run = AllowsDryRun(fields);
    webhook.reinvoked_if_needed = meta::FindString(fields, "reinvocationPolicy") == "IfNeeded";
    if (const std::optional<std::int64_t> seconds = NumberAt(fields, "timeoutSeconds"))
      webhook.timeout = std::chrono::seconds(*seconds);
    webhook.version = ChooseVersion(ListAt(fields, "admissionReviewVersions"));
    webhook.bypassed_until = bypassed;
    webhook.client = inputs.client(service::ReadWebhookConfig(ObjectAt(fields, "clientConfig")));
    webhook.breaker = BreakerOf(webhook.id, webhook.client, known);
    webhooks.push_back(std::make_shared<const Webhook>(std::move(webhook)));
  });
  return webhooks;
}

}  // namespace apimesh::admission::webhooks
