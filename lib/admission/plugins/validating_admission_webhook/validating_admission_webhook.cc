#include "lib/admission/plugins/validating_admission_webhook/validating_admission_webhook.h"

#include <fmt/format.h>

#include "lib/admission/webhooks/webhook_plugin.h"
#include "lib/base/async/run_all.h"

namespace apimesh::admission {
namespace {

using webhooks::Webhook;
using webhooks::WebhookPtr;

/// One call of a webhook. Calls run at the same time, so each has its own results.
struct Invocation {
  WebhookPtr webhook;
  matching::Match match;
  matching::VersionedObjects::Pair objects;
  webhooks::CallResult result{};
  Duration elapsed{};
};

Task<> Call(meta::RequestContext ctx, const webhooks::Caller& caller, const Attributes& attributes,
            Invocation& invocation) {
  const SteadyTime start = caller.Now();
  invocation.result =
      co_await caller.Call(std::move(ctx), *invocation.webhook, invocation.match, attributes, invocation.objects);
  invocation.elapsed = caller.Now() - start;
}

class ValidatingAdmissionWebhook final : public webhooks::WebhookPlugin {
 public:
  explicit ValidatingAdmissionWebhook(const PluginInputs& inputs)
      : WebhookPlugin(inputs, webhooks::Type::kValidating) {}

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    ASSIGN_OR_CO_RETURN(const std::shared_ptr<const webhooks::WebhookList> list,
                        co_await WaitForWebhooks(ctx, attributes));
    webhooks::Caller::Request request = GetCaller().NewRequest(attributes);
    std::vector<Invocation> invocations;
    if (list->index.NeedsNamespace(attributes, request.labels)) co_await GetCaller().ReadNamespaceLabels(ctx, request);
    for (const matching::RuleIndex::Item item : list->index.Candidates(attributes, request.labels)) {
      const WebhookPtr& webhook = list->webhooks[item];
      if (GetCaller().Excludes(ctx, *webhook, request)) continue;
      ASSIGN_OR_CO_RETURN(const std::optional<matching::Match> match,
                          co_await GetCaller().ShouldCall(ctx, *webhook, request));
      if (!match) continue;
      ASSIGN_OR_CO_RETURN(const matching::VersionedObjects::Pair objects,
                          co_await request.objects.In(ctx, match->kind));
      invocations.push_back({webhook, *match, objects});
    }
    if (invocations.empty()) co_return meta::Result<>();
    if (ctx.Abandoned()) co_return meta::Timeout("request did not complete within requested timeout");
    std::vector<Task<>> calls;
    for (Invocation& invocation : invocations) calls.push_back(Call(ctx, GetCaller(), attributes, invocation));
    co_await RunAll(std::move(calls));
    co_return Conclude(ctx, attributes, invocations);
  }

 private:
  /// Returns the first error. All calls are recorded, whatever their order of completion was.
  meta::Result<> Conclude(const meta::RequestContext& ctx, const Attributes& attributes,
                          const std::vector<Invocation>& invocations) const {
    meta::Result<> conclusion;
    for (std::size_t i = 0; i < invocations.size(); ++i) {
      const Invocation& invocation = invocations[i];
      const Webhook& webhook = *invocation.webhook;
      webhooks::AddRemarks(ctx, webhook, invocation.result.response);
      if (!invocation.result.error) {
        GetCaller().RecordSuccess(webhook, attributes, invocation.elapsed);
        continue;
      }
      const std::optional<meta::ApiError> error = GetCaller().ApplyFailurePolicy(
          ctx, webhook, attributes, *invocation.result.error, invocation.elapsed, fmt::format("round_0_index_{}", i));
      if (error && conclusion) conclusion = *error;
    }
    return conclusion;
  }
};

}  // namespace

std::unique_ptr<Plugin> MakeValidatingAdmissionWebhook(const PluginInputs& inputs) {
  return std::make_unique<ValidatingAdmissionWebhook>(inputs);
}

}  // namespace apimesh::admission
