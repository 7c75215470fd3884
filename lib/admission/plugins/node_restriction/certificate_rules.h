#pragma once

#include <string>

#include "lib/admission/plugin.h"

namespace apimesh::admission::node_restriction {

/// Checks that a node requests kubelet certificates only in its own name.
meta::Result<> CheckSigningRequest(const std::string& node, const Attributes& attributes);

}  // namespace apimesh::admission::node_restriction
