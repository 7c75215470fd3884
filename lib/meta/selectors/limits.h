#pragma once

#include <cstddef>

namespace apimesh::meta {

/// The limits of a selector in a query or in an access review; a larger one is an error. kube-apiserver has no limits,
/// although it compares every object of a list with all requirements.
inline constexpr std::size_t kMaxRequirements = 1000, kMaxRequirementValues = 10'000;

}  // namespace apimesh::meta
