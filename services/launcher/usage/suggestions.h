#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace apimesh::launcher {

/// Returns the names that a mistyped word probably means, the most similar first: those that differ by at most two
/// inserted, removed, replaced or exchanged letters, and those that start with the word.
std::vector<std::string> SimilarNames(std::string_view word, const std::vector<std::string>& names);

}  // namespace apimesh::launcher
