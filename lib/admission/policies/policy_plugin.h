#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lib/admission/all_plugins.h"
#include "lib/admission/matching/matcher.h"
#include "lib/admission/policies/params.h"
#include "lib/admission/policies/policy_source.h"

namespace apimesh::admission::policies {

/// How a request matches a policy.
struct MatchedPolicy {
  matching::Match match;
  std::optional<ParamResource> params;
};

/// Base class of the plugins that run policies: follows the policies of one kind, and finds those that a request
/// matches.
class PolicyPlugin : public Plugin {
 protected:
  /// `policies` and `bindings` are resources of the group admissionregistration.k8s.io.
  PolicyPlugin(const PluginInputs& inputs, std::string_view policies, std::string_view bindings, Compile compile);

  /// Returns whether a policy may match the request, which needs no coroutine to be known.
  bool MayMatch(const Attributes& attributes) const;
  /// Returns the current policies. Until they are known, waits at most 10 s, and then refuses the request.
  Task<meta::Result<PolicySetPtr>> CurrentPolicies(meta::RequestContext ctx, const Attributes& attributes) const;
  /// Returns the positions of the policies that could match the request. `labels` has the labels of its namespace then,
  /// if they can be read and one of these policies has a selector for them.
  Task<std::vector<matching::RuleIndex::Item>> FindCandidates(meta::RequestContext ctx, const PolicySet& set,
                                                              const Attributes& attributes,
                                                              matching::RequestLabels& labels) const;
  /// Returns nullopt if the request does not match the policy.
  Task<meta::Result<std::optional<MatchedPolicy>>> MatchPolicy(meta::RequestContext ctx, const Policy& policy,
                                                               const Attributes& attributes,
                                                               matching::RequestLabels& labels) const;
  /// Returns the parameters with which the policy runs for a binding: none if the request does not match the binding,
  /// and a nullptr if the policy has no parameters.
  Task<meta::Result<std::vector<ObjectPtr>>> ParamsFor(meta::RequestContext ctx, const Binding& binding,
                                                       const MatchedPolicy& matched,
                                                       const Attributes& attributes) const;

  const service::AuthClientPtr auth_;
  service::Metrics* const metrics_;
  const Clock* const clock_;
  const matching::Matcher matcher_;

 private:
  const ObjectsPtr objects_;
  PolicySource source_;
};

/// Compiles every policy to a T.
template <class T>
Compile CompileAs(const PluginInputs& inputs) {
  return [metrics = inputs.metrics, clock = inputs.clock](const meta::Object& policy) {
    return std::make_shared<const T>(policy, metrics, clock);
  };
}

}  // namespace apimesh::admission::policies
