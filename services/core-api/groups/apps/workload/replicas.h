#pragma once

#include <string>
#include <vector>

#include "lib/registry/resource.h"
#include "services/core-api/groups/apps/workload/workload.h"

/// Code that Deployments, ReplicaSets and ReplicationControllers share: they keep a number of equal pods.
namespace apimesh::core_api {

/// Validates the template of a Deployment or ReplicaSet, whose selector can be parsed.
void ValidateReplicaTemplate(const Check& spec);
/// Returns the warnings about a Deployment or ReplicaSet. `old` is nullptr on creation.
std::vector<std::string> ReplicaWarnings(const meta::Object& object, const meta::Object* old);

/// Returns the rules for the numbers in the status that ReplicaSets and ReplicationControllers have.
StatusRules ReplicaStatusRules();
/// Returns the table of ReplicaSets and ReplicationControllers. `selector_text` formats spec.selector, which has a
/// different type in the two kinds.
registry::TablePrinter ReplicaTable(std::string (*selector_text)(const meta::json::value* selector));

}  // namespace apimesh::core_api
