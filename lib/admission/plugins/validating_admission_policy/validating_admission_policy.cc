#include "lib/admission/plugins/validating_admission_policy/validating_admission_policy.h"

#include "lib/admission/expressions/request_variable.h"
#include "lib/admission/manifests/static_manifests.h"
#include "lib/admission/matching/matcher.h"
#include "lib/admission/matching/versioned_objects.h"
#include "lib/admission/plugins/validating_admission_policy/findings.h"
#include "lib/admission/policies/policy_plugin.h"
#include "lib/admission/policies/request_namespace.h"
#include "lib/base/async/turns.h"

namespace apimesh::admission {
namespace {

using policies::Binding;
using policies::Policy;
using validating_policy::Findings;
using validating_policy::Validation;
using validating_policy::Validator;

/// The state of one request.
struct Request {
  meta::RequestContext ctx;
  const Attributes& attributes;
  Findings findings;
  AuthorizerAnswers answers;
  matching::VersionedObjects objects;
  matching::RequestLabels labels;
  cel::Evaluation evaluation;
  Turns turns;
};

/// A policy that a request matches.
struct Matched {
  const Policy& policy;
  const Validator& validator;
  policies::MatchedPolicy found;
};

class ValidatingAdmissionPolicy final : public policies::PolicyPlugin {
 public:
  explicit ValidatingAdmissionPolicy(const PluginInputs& inputs)
      : PolicyPlugin(inputs, "validatingadmissionpolicies", "validatingadmissionpolicybindings",
                     policies::CompileAs<Validator>(inputs)) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kValidate && MayMatch(attributes);
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    ASSIGN_OR_CO_RETURN(const policies::PolicySetPtr current, co_await CurrentPolicies(ctx, attributes));
    Request request{ctx,
                    attributes,
                    Findings(ctx, attributes, metrics_),
                    AuthorizerAnswers(auth_),
                    matching::VersionedObjects(attributes),
                    matching::RequestLabels(attributes),
                    {},
                    Turns(clock_)};
    const std::vector<matching::RuleIndex::Item> candidates =
        co_await FindCandidates(ctx, *current, attributes, request.labels);
    for (const matching::RuleIndex::Item item : candidates) {
      CO_RETURN_IF_ERROR(co_await CheckPolicy(request, *current->policies[item]));
    }
    co_return request.findings.Result();
  }

 private:
  Task<meta::Result<>> CheckPolicy(Request& request, const Policy& policy) const {
    const meta::Result<std::optional<policies::MatchedPolicy>> match =
        co_await MatchPolicy(request.ctx, policy, request.attributes, request.labels);
    if (!match) request.findings.AddConfigurationError(policy, nullptr, match.error());
    if (!match || !*match) co_return meta::Result<>();
    const Matched matched{policy, static_cast<const Validator&>(*policy.compiled), **match};
    for (const Binding& binding : policy.bindings) {
      CO_RETURN_IF_ERROR(co_await CheckBinding(request, matched, binding));
    }
    request.findings.EndPolicy(policy);
    co_return meta::Result<>();
  }

  Task<meta::Result<>> CheckBinding(Request& request, const Matched& matched, const Binding& binding) const {
    const meta::Result<std::vector<ObjectPtr>> params =
        co_await ParamsFor(request.ctx, binding, matched.found, request.attributes);
    if (!params) request.findings.AddConfigurationError(matched.policy, &binding, params.error());
    if (!params || params->empty()) co_return meta::Result<>();
    const meta::Result<matching::VersionedObjects::Pair> objects =
        co_await request.objects.In(request.ctx, matched.found.match.kind);
    if (!objects) {
      const meta::ApiError::Data data{.message = "failed to convert object version: " + objects.error().Message()};
      request.findings.AddConfigurationError(matched.policy, &binding, meta::ApiError(data));
      co_return meta::Result<>();
    }
    ObjectPtr ns;
    if (const std::string name = policies::NamespaceOf(request.attributes); !name.empty()) {
      ASSIGN_OR_CO_RETURN(ns, co_await matcher_.Namespace(request.ctx, name));
    }
    for (const ObjectPtr& param : *params) {
      // A small request can cause thousands of evaluations, each of which may take milliseconds.
      if (request.turns.Over()) {
        co_await request.turns.Next();
        if (request.ctx.Abandoned()) co_return meta::Timeout("the request has ended during the evaluation of policies");
      }
      const Validation validation = co_await Evaluate(request, matched, *objects, param, ns);
      request.findings.Add(matched.policy, binding, validation);
    }
    co_return meta::Result<>();
  }

  static Task<Validation> Evaluate(Request& request, const Matched& matched, matching::VersionedObjects::Pair objects,
                                   ObjectPtr param, ObjectPtr ns) {
    meta::json::object variable;
    ExpressionInputs inputs;
    if (matched.validator.UsesRequest()) {
      variable =
          RequestVariable(request.ctx, request.attributes, matched.found.match.kind, matched.found.match.resource);
      inputs.request = &variable;
    }
    inputs.object = objects.object ? &objects.object->Root() : nullptr;
    inputs.old_object = objects.old_object ? &objects.old_object->Root() : nullptr;
    inputs.params = param ? &param->Root() : nullptr;
    inputs.namespace_object = ns ? &ns->Root() : nullptr;
    inputs.authorizer = &request.answers;
    inputs.attributes = &request.attributes;
    for (;;) {
      request.evaluation.arena.Clear();
      Validation validation = matched.validator.Validate(inputs, request.evaluation);
      if (!request.answers.HasOpenQuestion()) co_return validation;
      co_await request.answers.Ask(request.ctx);
    }
  }
};

}  // namespace

std::unique_ptr<Plugin> MakeValidatingAdmissionPolicy(const PluginInputs& inputs) {
  CheckPolicySection(inputs.section, "ValidatingAdmissionPolicyConfiguration");
  return std::make_unique<ValidatingAdmissionPolicy>(inputs);
}

}  // namespace apimesh::admission
