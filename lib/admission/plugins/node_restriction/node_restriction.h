#pragma once

#include <memory>

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Limits the writes of a node (user system:node:NAME, group system:nodes) to those that its kubelet needs: its own
/// Node, Lease, CSINode and ResourceSlices, mirror pods that refer to no other object, the status and eviction of its
/// own pods, and tokens for them. The Node authorizer depends on this plugin, because it allows a node to read every
/// object that the pods on that node refer to.
std::unique_ptr<Plugin> MakeNodeRestriction(const PluginInputs& inputs);

}  // namespace apimesh::admission
