#include "lib/admission/plugins/mutating_admission_policy/mutating_admission_policy.h"

#include <set>

#include "lib/admission/expressions/request_variable.h"
#include "lib/admission/fields.h"
#include "lib/admission/manifests/static_manifests.h"
#include "lib/admission/matching/matcher.h"
#include "lib/admission/matching/versioned_objects.h"
#include "lib/admission/plugins/mutating_admission_policy/mutator.h"
#include "lib/admission/plugins/mutating_admission_policy/policy_errors.h"
#include "lib/admission/policies/policy_plugin.h"
#include "lib/admission/policies/request_namespace.h"
#include "lib/base/async/turns.h"

namespace apimesh::admission {
namespace {

using mutating_policy::Mutation;
using mutating_policy::Mutator;
using mutating_policy::PolicyErrors;
using policies::Binding;
using policies::Policy;

/// A policy, a binding and parameters with which the policy has to run.
struct Invocation {
  const Policy& policy;
  const Binding& binding;
  const Mutator& mutator;
  matching::Match match;
  ObjectPtr param;

  std::string Key() const {
    return policy.name + "/" + binding.name + "/" +
           (param ? std::string(param->Namespace()) + "/" + std::string(param->Name()) : "");
  }
};

/// The policies that ran in the first pass over all plugins and have to run again if the object changes afterwards.
struct PassState {
  std::set<std::string> ran, again;
  std::optional<meta::json::value> last_output;  // set if `ran` is not empty

  void RunAgain() {
    again.insert(ran.begin(), ran.end());
    ran.clear();
  }
};

/// The state of one request.
struct Request {
  meta::RequestContext ctx;
  Attributes& attributes;
  PassState& pass;
  PolicyErrors errors;
  AuthorizerAnswers answers;
  matching::VersionedObjects objects;
  cel::Evaluation evaluation;
  ObjectPtr ns;
  bool changed = false;
};

class MutatingAdmissionPolicy final : public policies::PolicyPlugin {
 public:
  explicit MutatingAdmissionPolicy(const PluginInputs& inputs)
      : PolicyPlugin(inputs, "mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
                     policies::CompileAs<Mutator>(inputs)),
        enabled_(inputs.features.Enabled(features::kMutatingAdmissionPolicy)) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return enabled_ && phase == Phase::kMutate && attributes.operation != Operation::kDelete && MayMatch(attributes);
  }

  Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes) override {
    ASSIGN_OR_CO_RETURN(const policies::PolicySetPtr current, co_await CurrentPolicies(ctx, attributes));
    const std::shared_ptr<PassState> pass = StateOf(attributes);
    Request request{ctx, attributes, *pass, {}, AuthorizerAnswers(auth_), matching::VersionedObjects(attributes),
                    {},  nullptr};
    std::vector<Invocation> invocations;
    matching::RequestLabels labels(attributes);
    const std::vector<matching::RuleIndex::Item> candidates =
        co_await FindCandidates(ctx, *current, attributes, labels);
    for (const matching::RuleIndex::Item item : candidates) {
      co_await Collect(request, *current->policies[item], labels, invocations);
    }
    CO_RETURN_IF_ERROR(co_await RunAll(request, invocations));
    co_return request.errors.Result(attributes);
  }

 private:
  std::shared_ptr<PassState> StateOf(const Attributes& attributes) const {
    if (!attributes.reinvocation) return std::make_shared<PassState>();
    std::shared_ptr<void>& state = attributes.reinvocation->states[this];
    if (!state) state = std::make_shared<PassState>();
    return std::static_pointer_cast<PassState>(state);
  }
  static bool SecondPass(const Request& request) {
    return request.attributes.reinvocation && request.attributes.reinvocation->second_pass;
  }

  /// Adds the invocations of a policy that the request matches.
  Task<> Collect(Request& request, const Policy& policy, matching::RequestLabels& labels,
                 std::vector<Invocation>& invocations) const {
    const meta::Result<std::optional<policies::MatchedPolicy>> matched =
        co_await MatchPolicy(request.ctx, policy, request.attributes, labels);
    if (!matched) request.errors.AddConfigurationError(policy, nullptr, matched.error());
    if (!matched || !*matched) co_return;
    for (const Binding& binding : policy.bindings) {
      const meta::Result<std::vector<ObjectPtr>> params =
          co_await ParamsFor(request.ctx, binding, **matched, request.attributes);
      if (!params) {
        request.errors.AddConfigurationError(policy, &binding, params.error());
        continue;
      }
      const auto& mutator = static_cast<const Mutator&>(*policy.compiled);
      for (const ObjectPtr& param : *params)
        invocations.push_back({policy, binding, mutator, (*matched)->match, param});
    }
  }

  Task<meta::Result<>> RunAll(Request& request, const std::vector<Invocation>& invocations) const {
    if (invocations.empty()) co_return meta::Result<>();
    meta::Object* const object = request.attributes.object;
    if (SecondPass(request) && object && request.pass.last_output) {
      const meta::json::value current = object->Root();
      // Other plugins have changed the object since.
      if (!SemanticallyEqual(&current, &*request.pass.last_output)) request.pass.RunAgain();
    }
    if (const std::string name = policies::NamespaceOf(request.attributes); !name.empty()) {
      ASSIGN_OR_CO_RETURN(request.ns, co_await matcher_.Namespace(request.ctx, name));
    }
    Turns turns(clock_);
    for (const Invocation& invocation : invocations) {
      // A small request can cause thousands of invocations, each of which may take milliseconds.
      if (turns.Over()) {
        co_await turns.Next();
        if (request.ctx.Abandoned()) co_return meta::Timeout("the request has ended during the evaluation of policies");
      }
      CO_RETURN_IF_ERROR(co_await Run(request, invocation));
    }
    if (request.changed) {
      request.pass.RunAgain();
      if (request.attributes.reinvocation) request.attributes.reinvocation->requested = true;
    }
    if (object && !request.pass.ran.empty()) request.pass.last_output = meta::json::value(object->Root());
    co_return meta::Result<>();
  }

  Task<meta::Result<>> Run(Request& request, const Invocation& invocation) const {
    meta::json::object variable;
    ExpressionInputs inputs;
    if (invocation.mutator.UsesRequest()) {
      variable = RequestVariable(request.ctx, request.attributes, invocation.match.kind, invocation.match.resource);
      inputs.request = &variable;
    }
    inputs.params = invocation.param ? &invocation.param->Root() : nullptr;
    inputs.namespace_object = request.ns ? &request.ns->Root() : nullptr;
    inputs.authorizer = &request.answers;
    inputs.attributes = &request.attributes;
    CO_RETURN_IF_ERROR(co_await SetObjects(request, invocation, inputs));
    const MatchConditions::Result matched = co_await Match(request, invocation, inputs);
    if (!matched.error.empty()) request.errors.Add(invocation.policy, invocation.binding, matched.error);
    if (!matched.error.empty() || !matched.matches) co_return meta::Result<>();
    if (SecondPass(request) && !request.pass.again.contains(invocation.Key())) co_return meta::Result<>();
    bool changed = false;
    for (std::size_t i = 0; i < invocation.mutator.Mutations() && request.attributes.object; ++i) {
      CO_RETURN_IF_ERROR(co_await SetObjects(request, invocation, inputs));
      const SteadyTime start = metrics_ ? clock_->Steady() : SteadyTime();
      Mutation mutation = co_await Mutate(request, invocation, i, inputs);
      if (mutation.error.empty()) {
        const meta::Result<bool> replaced = co_await Replace(request, invocation, std::move(mutation.document));
        if (!replaced) {
          Count(invocation, replaced.error().Message(), start);
          co_return replaced.error();
        }
        changed = changed || *replaced;
        request.changed = true;
        Count(invocation, "", start);
        continue;
      }
      Count(invocation, mutation.error, start);
      if (mutation.status) co_return *mutation.status;
      request.errors.Add(invocation.policy, invocation.binding, mutation.error);
    }
    if (changed) {
      request.pass.RunAgain();
      if (request.attributes.reinvocation) request.attributes.reinvocation->requested = true;
    }
    if (invocation.mutator.Reinvoked()) request.pass.ran.insert(invocation.Key());
    co_return meta::Result<>();
  }

  /// Sets `object` and `oldObject` to the current objects in the kind that the policy has matched.
  static Task<meta::Result<>> SetObjects(Request& request, const Invocation& invocation, ExpressionInputs& inputs) {
    const meta::Result<matching::VersionedObjects::Pair> objects =
        co_await request.objects.In(request.ctx, invocation.match.kind);
    if (!objects) co_return objects.error();
    inputs.object = objects->object ? &objects->object->Root() : nullptr;
    inputs.old_object = objects->old_object ? &objects->old_object->Root() : nullptr;
    co_return meta::Result<>();
  }

  static Task<MatchConditions::Result> Match(Request& request, const Invocation& invocation, ExpressionInputs inputs) {
    for (;;) {
      request.evaluation.arena.Clear();
      MatchConditions::Result result = invocation.mutator.Match(inputs, request.evaluation);
      if (!request.answers.HasOpenQuestion()) co_return result;
      co_await request.answers.Ask(request.ctx);
    }
  }

  static Task<Mutation> Mutate(Request& request, const Invocation& invocation, std::size_t index,
                               ExpressionInputs inputs) {
    if (!request.attributes.versions) co_return Mutation{"the versions of the resource are not known", {}, {}};
    for (;;) {
      request.evaluation.arena.Clear();
      Mutation mutation = invocation.mutator.Mutate(index, inputs, invocation.match.kind, *request.attributes.versions,
                                                    request.evaluation);
      if (!request.answers.HasOpenQuestion()) co_return mutation;
      co_await request.answers.Ask(request.ctx);
    }
  }

  /// Makes a document that is the result of a mutation the object of the request. Returns whether that changes it.
  static Task<meta::Result<bool>> Replace(Request& request, const Invocation& invocation, meta::json::object document) {
    const ResourceVersions& versions = *request.attributes.versions;
    ASSIGN_OR_CO_RETURN(meta::Object object, versions.Complete(std::move(document), invocation.match.kind));
    if (invocation.match.kind != request.attributes.kind) {
      ASSIGN_OR_CO_RETURN(object, co_await versions.Convert(request.ctx, std::move(object), request.attributes.kind));
    }
    const meta::json::value before(request.attributes.object->Root()), after(object.Root());
    request.attributes.ReplaceObject(std::move(object));
    request.objects.Forget();
    co_return !SemanticallyEqual(&before, &after);
  }

  void Count(const Invocation& invocation, std::string_view error, SteadyTime start) const {
    if (!metrics_) return;
    const char* type = "no_error";
    if (error.starts_with("compilation")) {
      type = "compile_error";
    } else if (error == kOutOfBudget) {
      type = "out_of_budget";
    } else if (!error.empty()) {
      type = "invalid_error";
    }
    const service::Labels labels = {
        {"policy", invocation.policy.name}, {"policy_binding", invocation.binding.name}, {"error_type", type}};
    metrics_->GetCounter("apiserver_mutating_admission_policy_check_total", "Mutations by admission policies.", labels)
        .Add();
    metrics_
        ->GetHistogram("apiserver_mutating_admission_policy_check_duration_seconds",
                       "Time to compute one mutation of an admission policy.", {0.0000005, 0.001, 0.01, 0.1, 1.0},
                       labels)
        .Observe(std::chrono::duration<double>(clock_->Steady() - start).count());
  }

  const bool enabled_;
};

}  // namespace

std::unique_ptr<Plugin> MakeMutatingAdmissionPolicy(const PluginInputs& inputs) {
  CheckPolicySection(inputs.section, "MutatingAdmissionPolicyConfiguration");
  return std::make_unique<MutatingAdmissionPolicy>(inputs);
}

}  // namespace apimesh::admission
