#include "services/launcher/usage/suggestions.h"

#include <algorithm>

namespace apimesh::launcher {
namespace {

constexpr std::size_t kMostEdits = 2;

/// The number of letters to insert, remove, replace or exchange with the next one (optimal string alignment).
std::size_t Edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> edits(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) {
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        edits[i][j] = i + j;
        continue;
      }
      edits[i][j] =
          std::min({edits[i - 1][j] + 1, edits[i][j - 1] + 1, edits[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        edits[i][j] = std::min(edits[i][j], edits[i - 2][j - 2] + 1);
    }
  }
  return edits[a.size()][b.size()];
}

}  // namespace

std::vector<std::string> SimilarNames(std::string_view word, const std::vector<std::string>& names) {
  std::vector<std::pair<std::size_t, std::string>> found;
  for (const std::string& name : names) {
    // A command line can have words of any length; none of them is similar to a name.
    if (word.empty() || word.size() > name.size() + kMostEdits) continue;
    const std::size_t edits = Edits(word, name);
    // Two edits turn any word of two letters into any other.
    if (name.starts_with(word) || (edits <= kMostEdits && edits < std::min(word.size(), name.size())))
      found.emplace_back(edits, name);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> out;
  for (auto& [edits, name] : found) out.push_back(std::move(name));
  return out;
}

}  // namespace apimesh::launcher
