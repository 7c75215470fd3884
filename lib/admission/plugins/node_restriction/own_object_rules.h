#pragma once

#include <string>

#include "lib/admission/plugin.h"

/// Objects that belong to one node, by their name or by a field.
namespace apimesh::admission::node_restriction {

/// A node has one Lease: in the namespace kube-node-lease, with the node's name.
meta::Result<> CheckLease(const std::string& node, const Attributes& attributes);
/// A node has one CSINode, with the node's name.
meta::Result<> CheckCsiNode(const std::string& node, const Attributes& attributes);
/// A node creates and deletes ResourceSlices for itself. The Node authorizer checks other writes, but it does not see
/// the object of a create, nor each object of a deletecollection.
meta::Result<> CheckResourceSlice(const std::string& node, const Attributes& attributes);

}  // namespace apimesh::admission::node_restriction
