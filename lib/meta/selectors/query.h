#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace apimesh::meta {

/// The query of a URL, decoded as Go's net/url does: '+' is a space, and a pair with a bad escape or a semicolon is
/// dropped.
class QueryParameters {
 public:
  explicit QueryParameters(std::string_view raw);

  /// Returns the first value of a key; nullopt if the key is absent. "?watch" has the empty value.
  std::optional<std::string> First(std::string_view key) const;
  std::vector<std::string> All(std::string_view key) const;
  const std::vector<std::pair<std::string, std::string>>& Pairs() const { return pairs_; }

 private:
  std::vector<std::pair<std::string, std::string>> pairs_;
};

/// Decodes %XX, and '+' if `plus_is_space`. Returns nullopt for a bad escape.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space);

}  // namespace apimesh::meta
