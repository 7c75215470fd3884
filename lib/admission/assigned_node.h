#pragma once

#include "lib/admission/objects/objects.h"
#include "lib/admission/plugin.h"

/// Plugins that compare a changed pod with the node that runs it.
namespace apimesh::admission {

/// Returns whether a request changes the spec of a pod that is assigned to a node.
bool ChangesAssignedPod(const Attributes& attributes);
/// Returns the node to which the pod of a request is assigned. If it cannot be read, the error refuses the request.
Task<meta::Result<ObjectPtr>> AssignedNode(meta::RequestContext ctx, const Attributes& attributes, ObjectsPtr objects);

}  // namespace apimesh::admission
