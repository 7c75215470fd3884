#pragma once

#include <string_view>

namespace apimesh {

/// Whether version `a` precedes `b` if their priorities are equal: v10, v2, v1, v11beta2, v10beta3, v3alpha1, then all
/// other names in alphabetical order.
bool VersionComesBefore(std::string_view a, std::string_view b);

}  // namespace apimesh
