#pragma once

#include <string_view>

namespace apimesh::core_api {

/// Returns the text of the warning for a node label that is deprecated, or "" for other labels.
std::string_view DeprecatedNodeLabel(std::string_view key);

}  // namespace apimesh::core_api
