#include "lib/admission/policies/policy_plugin.h"

namespace apimesh::admission::policies {
namespace {

meta::Gvr Registration(std::string_view resource) {
  return {"admissionregistration.k8s.io", "v1", std::string(resource)};
}

}  // namespace

PolicyPlugin::PolicyPlugin(const PluginInputs& inputs, std::string_view policies, std::string_view bindings,
                           Compile compile)
    : auth_(inputs.auth),
      metrics_(inputs.metrics),
      clock_(inputs.clock),
      matcher_(inputs.objects),
      objects_(inputs.objects),
      source_(inputs.objects, {Registration(policies), Registration(bindings)}, std::move(compile)) {}

bool PolicyPlugin::MayMatch(const Attributes& attributes) const {
  return IsSubjectToPolicies(attributes) && source_.MayMatch(attributes);
}

Task<meta::Result<PolicySetPtr>> PolicyPlugin::CurrentPolicies(meta::RequestContext ctx,
                                                               const Attributes& attributes) const {
  bool ready = source_.Ready();
  if (!ready) ready = co_await source_.WaitUntilReady(ctx);
  if (!ready) co_return Forbidden(attributes, "not yet ready to handle request");
  co_return source_.Current();
}

Task<std::vector<matching::RuleIndex::Item>> PolicyPlugin::FindCandidates(meta::RequestContext ctx,
                                                                          const PolicySet& set,
                                                                          const Attributes& attributes,
                                                                          matching::RequestLabels& labels) const {
  if (set.index.NeedsNamespace(attributes, labels))
    co_await matcher_.ReadNamespaceLabels(std::move(ctx), attributes, labels);
  co_return set.index.Candidates(attributes, labels);
}

Task<meta::Result<std::optional<MatchedPolicy>>> PolicyPlugin::MatchPolicy(meta::RequestContext ctx,
                                                                           const Policy& policy,
                                                                           const Attributes& attributes,
                                                                           matching::RequestLabels& labels) const {
  ASSIGN_OR_CO_RETURN(const std::optional<matching::Match> match,
                      co_await matcher_.Match(ctx, policy.criteria, attributes, labels));
  std::optional<MatchedPolicy> matched;
  if (!match) co_return matched;
  ASSIGN_OR_CO_RETURN(std::optional<ParamResource> params, co_await FindParamResource(ctx, objects_, policy));
  matched.emplace(MatchedPolicy{*match, std::move(params)});
  co_return matched;
}

Task<meta::Result<std::vector<ObjectPtr>>> PolicyPlugin::ParamsFor(meta::RequestContext ctx, const Binding& binding,
                                                                   const MatchedPolicy& matched,
                                                                   const Attributes& attributes) const {
  if (binding.criteria) {
    ASSIGN_OR_CO_RETURN(const std::optional<matching::Match> match,
                        co_await matcher_.Match(ctx, *binding.criteria, attributes));
    if (!match) co_return std::vector<ObjectPtr>();
  }
  co_return co_await CollectParams(ctx, objects_, matched.params, binding, attributes.ns);
}

}  // namespace apimesh::admission::policies
