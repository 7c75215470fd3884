#include "lib/admission/plugins/validating_admission_policy/validating_admission_policy.h"

#include "lib/admission/expressions/request_variable.h"
#include "lib/admission/manifests/static_manifests.h"
#include "lib/admission/matching/matcher.h"
#include "lib/admission/matching/versioned_objects.h"
#include "lib/admission/plugins/validating_admission_policy/findings.h"
#include "lib/admission/policies/params.h"
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
  cel::Evaluation evaluation;
  Turns turns;
};

/// A policy that a request matches.
struct Matched {
  const Policy& policy;
  const Validator& validator;
  matching::Match match;
  std::optional<policies::ParamResource> params;
};

class ValidatingAdmissionPolicy final : public Plugin {
 public:
  explicit ValidatingAdmissionPolicy(const PluginInputs& inputs)
      : objects_(inputs.objects),
        auth_(inputs.auth),
        metrics_(inputs.metrics),
        clock_(inputs.clock),
        matcher_(inputs.objects),
        source_(inputs.objects,
                {{"admissionregistration.k8s.io", "v1", "validatingadmissionpolicies"},
                 {"admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings"}},
                [metrics = inputs.metrics, clock = inputs.clock](const meta::Object& policy) {
                  return std::make_shared<const Validator>(policy, metrics, clock);
                }) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kValidate && policies::IsSubjectToPolicies(attributes) && source_.MayMatch(attributes);
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    bool ready = source_.Ready();
    if (!ready) ready = co_await source_.WaitUntilReady(ctx);
    if (!ready) co_return Forbidden(attributes, "not yet ready to handle request");
    Request request{ctx,
                    attributes,
                    Findings(ctx, attributes, metrics_),
                    AuthorizerAnswers(auth_),
                    matching::VersionedObjects(attributes),
                    {},
                    Turns(clock_)};
    const policies::PolicySetPtr current = source_.Current();
    for (const matching::RuleIndex::Item item : current->index.Candidates(attributes)) {
      CO_RETURN_IF_ERROR(co_await CheckPolicy(request, *current->policies[item]));
    }
    co_return request.findings.Result();
  }

 private:
  Task<meta::Result<>> CheckPolicy(Request& request, const Policy& policy) const {
    const meta::Result<std::optional<matching::Match>> match =
        co_await matcher_.Match(request.ctx, policy.criteria, request.attributes);
    if (!match) {
      request.findings.AddConfigurationError(policy, nullptr, match.error());
      co_return meta::Result<>();
    }
    if (!*match) co_return meta::Result<>();
    const meta::Result<std::optional<policies::ParamResource>> params =
        co_await policies::FindParamResource(request.ctx, objects_, policy);
    if (!params) {
      request.findings.AddConfigurationError(policy, nullptr, params.error());
      co_return meta::Result<>();
    }
    const Matched matched{policy, static_cast<const Validator&>(*policy.compiled), **match, *params};
    for (const Binding& binding : policy.bindings) {
      CO_RETURN_IF_ERROR(co_await CheckBinding(request, matched, binding));
    }
    request.findings.EndPolicy(policy);
    co_return meta::Result<>();
  }

  Task<meta::Result<>> CheckBinding(Request& request, const Matched& matched, const Binding& binding) const {
    if (binding.criteria) {
      const meta::Result<std::optional<matching::Match>> match =
          co_await matcher_.Match(request.ctx, *binding.criteria, request.attributes);
      if (!match) request.findings.AddConfigurationError(matched.policy, &binding, match.error());
      if (!match || !*match) co_return meta::Result<>();
    }
    const meta::Result<std::vector<ObjectPtr>> params =
        co_await policies::CollectParams(request.ctx, objects_, matched.params, binding, request.attributes.ns);
    if (!params) request.findings.AddConfigurationError(matched.policy, &binding, params.error());
    if (!params || params->empty()) co_return meta::Result<>();
    const meta::Result<matching::VersionedObjects::Pair> objects =
        co_await request.objects.In(request.ctx, matched.match.kind);
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
      variable = RequestVariable(request.ctx, request.attributes, matched.match.kind, matched.match.resource);
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

  const ObjectsPtr objects_;
  const service::AuthClientPtr auth_;
  service::Metrics* const metrics_;
  const Clock* const clock_;
  const matching::Matcher matcher_;
  policies::PolicySource source_;
};

}  // namespace

std::unique_ptr<Plugin> MakeValidatingAdmissionPolicy(const PluginInputs& inputs) {
  CheckPolicySection(inputs.section, "ValidatingAdmissionPolicyConfiguration");
  return std::make_unique<ValidatingAdmissionPolicy>(inputs);
}

}  // namespace apimesh::admission
