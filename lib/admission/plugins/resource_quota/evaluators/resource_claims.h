#pragma once

#include "lib/admission/objects/objects.h"
#include "lib/admission/plugins/resource_quota/evaluators/evaluator.h"
#include "lib/base/clock.h"

namespace apimesh::admission::resource_quota {

/// The objects that decide what a ResourceClaim counts for.
struct ClaimSurroundings {
  std::vector<ObjectPtr> device_classes;
  ObjectPtr pod;                  // the pod for whose extended resources the claim was made; nullptr if there is none
  std::vector<ObjectPtr> claims;  // of the namespace, if there is such a pod
};

/// Counts claims and the devices that they request, by device class. Devices of a class that stands for an extended
/// resource also count as that resource, unless they were already counted for the pod that owns the claim.
EvaluatorPtr NewResourceClaimEvaluator(ClaimSurroundings surroundings, WallTime now);

/// Reads what NewResourceClaimEvaluator() needs for a claim.
Task<meta::Result<ClaimSurroundings>> ReadSurroundings(meta::RequestContext ctx, ObjectsPtr objects, std::string ns,
                                                       const meta::Object& claim);

}  // namespace apimesh::admission::resource_quota
