#pragma once

#include <string>
#include <vector>

#include "lib/registry/resource.h"
#include "services/core-api/groups/apps/workload/workload.h"

/// Code that Deployments, ReplicaSets and ReplicationControllers share: they keep a number of equal pods.
namespace apimesh::core_api {

/// Validates the template of a Deployment or ReplicaSet, whose selector can be parsed.
void ValidateReplicaTemplate(const Check& spec);

/// Base class of the strategies of Deployments and ReplicaSets: the selector is immutable, and both have the same
/// warnings.
class ReplicaStrategy : public registry::SpecStrategy {
 public:
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object& old) const override;
  std::vector<std::string> Warnings(const meta::RequestContext& ctx, const meta::Object& object,
                                    const meta::Object* old) const override;
};

/// Returns the rules for the numbers in the status that ReplicaSets and ReplicationControllers have.
StatusRules ReplicaStatusRules();
/// Returns the table of ReplicaSets and ReplicationControllers. `selector_text` formats spec.selector, which has a
/// different type in the two kinds.
registry::TablePrinter ReplicaTable(std::string (*selector_text)(const meta::json::value* selector));

}  // namespace apimesh::core_api
