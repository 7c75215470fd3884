#pragma once

#include <string>

#include "lib/admission/plugin.h"

namespace apimesh::admission::node_restriction {

/// Checks a write to a PersistentVolumeClaim: a node may change only a few fields of its status.
meta::Result<> CheckClaim(const std::string& node, const Attributes& attributes);

}  // namespace apimesh::admission::node_restriction
