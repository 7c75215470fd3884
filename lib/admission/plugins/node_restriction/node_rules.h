#pragma once

#include <string>

#include "lib/admission/plugin.h"

namespace apimesh::admission::node_restriction {

/// Checks a write to a Node or to one of its subresources.
meta::Result<> CheckNode(const std::string& node, const Attributes& attributes);

}  // namespace apimesh::admission::node_restriction
