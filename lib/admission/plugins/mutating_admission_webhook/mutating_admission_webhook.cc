#include "lib/admission/plugins/mutating_admission_webhook/mutating_admission_webhook.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "lib/admission/fields.h"
#include "lib/admission/webhooks/patching.h"
#include "lib/admission/webhooks/webhook_plugin.h"

namespace apimesh::admission {
namespace {

using webhooks::Webhook;

constexpr std::string_view kMutation = "mutation.webhook.admission.k8s.io/";
constexpr std::string_view kPatch = "patch.webhook.admission.k8s.io/";  // audit events below level Request omit it

/// What the first pass over the webhooks leaves for the second.
struct PassState {
  std::set<std::string> called;  // webhooks that want to be called again if the object changes after their call
  std::set<std::string> call_again;
  std::optional<meta::Object> last_object;  // after the last pass; set if a webhook may be called again

  /// Records that the object has changed after the calls made so far.
  void ObjectChanged() {
    call_again.merge(called);
    called.clear();
  }
};

PassState& StateOf(const void* plugin, Reinvocation& reinvocation) {
  std::shared_ptr<void>& state = reinvocation.states[plugin];
  if (!state) state = std::make_shared<PassState>();
  return *std::static_pointer_cast<PassState>(state);
}

bool Equal(const meta::Object& a, const meta::Object& b) {
  const json::value left(a.Root()), right(b.Root());
  return SemanticallyEqual(&left, &right);
}

class MutatingAdmissionWebhook final : public webhooks::WebhookPlugin {
 public:
  explicit MutatingAdmissionWebhook(const PluginInputs& inputs) : WebhookPlugin(inputs, webhooks::Type::kMutating) {}

  Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes) override {
    ASSIGN_OR_CO_RETURN(const std::shared_ptr<const webhooks::WebhookList> list,
                        co_await WaitForWebhooks(ctx, attributes));
    Reinvocation none;  // for a caller that makes one pass only
    Reinvocation& reinvocation = attributes.reinvocation ? *attributes.reinvocation : none;
    PassState& state = StateOf(this, reinvocation);
    if (reinvocation.second_pass && state.last_object && attributes.object &&
        !Equal(*state.last_object, *attributes.object)) {
      state.ObjectChanged();  // by a plugin that is part of the server
    }
    webhooks::Caller::Request request = GetCaller().NewRequest(attributes);
    if (list->index.NeedsNamespace(attributes, request.labels)) co_await GetCaller().ReadNamespaceLabels(ctx, request);
    std::vector<matching::RuleIndex::Item> candidates = list->index.Candidates(attributes, request.labels);
    for (std::size_t next = 0; next < candidates.size();) {
      const matching::RuleIndex::Item item = candidates[next++];
      const Webhook& webhook = *list->webhooks[item];
      if (GetCaller().Excludes(ctx, webhook, request)) continue;
      ASSIGN_OR_CO_RETURN(const std::optional<matching::Match> match,
                          co_await GetCaller().ShouldCall(ctx, webhook, request));
      if (!match) continue;
      // The second pass never calls a webhook for the first time.
      if (reinvocation.second_pass && !state.call_again.contains(webhook.id)) continue;
      const std::string position = fmt::format("round_{}_index_{}", reinvocation.second_pass ? 1 : 0, item);
      ASSIGN_OR_CO_RETURN(const bool changed, co_await CallOne(ctx, webhook, *match, attributes, request, position));
      if (changed) {
        request.ForgetObject();
        // Selectors may select the object by labels that it has now.
        candidates = list->index.Candidates(attributes, request.labels);
        next =
            static_cast<std::size_t>(std::upper_bound(candidates.begin(), candidates.end(), item) - candidates.begin());
        state.ObjectChanged();
        reinvocation.requested = true;
      }
      if (webhook.reinvoked_if_needed) state.called.insert(webhook.id);
    }
    state.last_object.reset();
    if (attributes.object && (!state.called.empty() || !state.call_again.empty()))
      state.last_object = *attributes.object;
    co_return meta::Result<>();
  }

 private:
  /// Calls a webhook and applies its patch. Returns whether it has changed the object.
  Task<meta::Result<bool>> CallOne(meta::RequestContext ctx, const Webhook& webhook, matching::Match match,
                                   Attributes& attributes, webhooks::Caller::Request& request,
                                   std::string position) const {
    const SteadyTime start = GetCaller().Now();
    ASSIGN_OR_CO_RETURN(const matching::VersionedObjects::Pair objects, co_await request.objects.In(ctx, match.kind));
    webhooks::CallResult result = co_await GetCaller().Call(ctx, webhook, match, attributes, objects);
    webhooks::AddRemarks(ctx, webhook, result.response);
    webhooks::Patched patched;
    bool changed = false;
    if (!result.error) {
      const std::function<void()> work = [&] {
        patched = webhooks::ApplyPatch(webhook, result, attributes, match.kind);
        changed = patched.object && !Equal(*patched.object, *objects.object);
      };
      co_await GetCaller().Process(ctx.User().name, result.response.patch.size(), work);
      result.error = patched.error;
    }
    ctx.AddAuditAnnotation(fmt::format("{}{}", kMutation, position), webhooks::MutationAnnotation(webhook, changed));
    if (patched.object) {
      ctx.AddAuditAnnotation(fmt::format("{}{}", kPatch, position),
                             webhooks::PatchAnnotation(webhook, patched.operations));
      CO_RETURN_IF_ERROR(co_await Replace(ctx, attributes, std::move(*patched.object)));
    }
    const Duration elapsed = GetCaller().Now() - start;
    if (!result.error) {
      GetCaller().RecordSuccess(webhook, attributes, elapsed);
      co_return changed;
    }
    const std::optional<meta::ApiError> error =
        GetCaller().ApplyFailurePolicy(ctx, webhook, attributes, *result.error, elapsed, position);
    if (error) co_return *error;
    if (ctx.Abandoned()) co_return meta::Timeout("request did not complete within requested timeout");
    co_return changed;
  }

  /// Makes `object`, which has the kind that the webhook wanted, the object of the request.
  static Task<meta::Result<>> Replace(meta::RequestContext ctx, Attributes& attributes, meta::Object object) {
    if (object.GetGvk() != attributes.kind) {
      meta::Result<meta::Object> converted =
          co_await attributes.versions->Convert(std::move(ctx), std::move(object), attributes.kind);
      if (!converted) co_return meta::InternalError(converted.error().Message());
      attributes.ReplaceObject(std::move(*converted));
      co_return meta::Result<>();
    }
    attributes.ReplaceObject(std::move(object));
    co_return meta::Result<>();
  }
};

}  // namespace

std::unique_ptr<Plugin> MakeMutatingAdmissionWebhook(const PluginInputs& inputs) {
  return std::make_unique<MutatingAdmissionWebhook>(inputs);
}

}  // namespace apimesh::admission
