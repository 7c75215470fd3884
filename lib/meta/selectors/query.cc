#include "lib/meta/selectors/query.h"

#include "lib/base/hash/hex.h"

namespace apimesh::meta {
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      out += ' ';
    } else if (text[i] == '%') {
      if (i + 2 >= text.size() || HexDigit(text[i + 1]) < 0 || HexDigit(text[i + 2]) < 0) return std::nullopt;
      out += static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

QueryParameters::QueryParameters(std::string_view raw) {
  while (!raw.empty()) {
    const std::size_t end = raw.find('&');
    const std::string_view pair = raw.substr(0, end);
    raw.remove_prefix(end == std::string_view::npos ? raw.size() : end + 1);
    if (pair.empty() || pair.find(';') != std::string_view::npos) continue;
    const std::size_t equals = pair.find('=');
    std::optional<std::string> key = PercentDecode(pair.substr(0, equals), true);
    std::optional<std::string> value =
        equals == std::string_view::npos ? std::string() : PercentDecode(pair.substr(equals + 1), true);
    if (key && value) pairs_.emplace_back(std::move(*key), std::move(*value));
  }
}

std::optional<std::string> QueryParameters::First(std::string_view key) const {
  for (const auto& [name, value] : pairs_) {
    if (name == key) return value;
  }
  return std::nullopt;
}

std::vector<std::string> QueryParameters::All(std::string_view key) const {
  std::vector<std::string> values;
  for (const auto& [name, value] : pairs_) {
    if (name == key) values.push_back(value);
  }
  return values;
}

}  // namespace apimesh::meta
