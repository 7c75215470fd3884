#pragma once

#include <optional>
#include <string>
#include <vector>

#include "lib/admission/policies/policy_source.h"

namespace apimesh::admission::policies {

/// The resource of the parameters of a policy.
struct ParamResource {
  meta::Gvr resource;
  bool namespaced = true;
};

/// Finds the resource of a policy's paramKind. Returns nullopt if the policy has none. The error of an unknown kind is
/// that of kube-apiserver.
Task<meta::Result<std::optional<ParamResource>>> FindParamResource(meta::RequestContext ctx, ObjectsPtr objects,
                                                                   const Policy& policy);

/// Returns the objects with which the policy has to be evaluated for this binding; nullptr stands for an evaluation
/// without parameters. An empty list means that there are no parameters and the binding allows that. `ns` is the
/// namespace of the request.
Task<meta::Result<std::vector<ObjectPtr>>> CollectParams(meta::RequestContext ctx, ObjectsPtr objects,
                                                         std::optional<ParamResource> resource, const Binding& binding,
                                                         std::string ns);

}  // namespace apimesh::admission::policies
