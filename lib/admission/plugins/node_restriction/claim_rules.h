#pragma once

#include <string>

#include "lib/admission/plugin.h"

namespace apimesh::admission::node_restriction {

/// A write to a PersistentVolumeClaim: a node may only change a few fields of its status.
meta::Result<> CheckClaim(const std::string& node, const Attributes& attributes);

}  // namespace apimesh::admission::node_restriction
