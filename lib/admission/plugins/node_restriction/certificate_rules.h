#pragma once

#include <string>

#include "lib/admission/plugin.h"

namespace apimesh::admission::node_restriction {

/// A node asks for certificates of a kubelet in its own name only.
meta::Result<> CheckSigningRequest(const std::string& node, const Attributes& attributes);

}  // namespace apimesh::admission::node_restriction
