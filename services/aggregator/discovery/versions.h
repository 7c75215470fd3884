#pragma once

#include <string_view>

namespace apimesh::aggregator {

/// Whether version `a` comes before `b` where priorities are equal: v10, v2, v1, v11beta2, v10beta3, v3alpha1, then the
/// rest by name.
bool VersionComesBefore(std::string_view a, std::string_view b);

}  // namespace apimesh::aggregator
