#pragma once

#include <string>

#include "lib/admission/plugin.h"

/// Checks writes to objects that belong to one node, by their name or by a field.
namespace apimesh::admission::node_restriction {

/// A node may write only one Lease: in the namespace kube-node-lease, with the node's name.
meta::Result<> CheckLease(const std::string& node, const Attributes& attributes);
/// A node may write only one CSINode, with the node's name.
meta::Result<> CheckCsiNode(const std::string& node, const Attributes& attributes);
/// A node may create and delete only its own ResourceSlices. The Node authorizer checks other writes, but it has no
/// access to the object of a create or to the objects of a deletecollection.
meta::Result<> CheckResourceSlice(const std::string& node, const Attributes& attributes);

}  // namespace apimesh::admission::node_restriction
