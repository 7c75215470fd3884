#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "lib/meta/selectors/limits.h"
#include "lib/meta/selectors/selector.h"

namespace apimesh::meta {
namespace {

/// Splits the text at commas that are not escaped with a backslash. Stops after more than kMaxRequirements terms.
std::vector<std::string_view> SplitTerms(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t start = 0;
  bool escaped = false;
  for (std::size_t i = 0; i < text.size() && terms.size() <= kMaxRequirements; ++i) {
    if (escaped) {
      escaped = false;
    } else if (text[i] == '\\') {
      escaped = true;
    } else if (text[i] == ',') {
      terms.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  terms.push_back(text.substr(start));
  return terms;
}

/// Returns the first UTF-8 character of the text.
std::string_view FirstCharacter(std::string_view text) {
  std::size_t size = 1;
  while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xc0) == 0x80) ++size;
  return text.substr(0, size);
}

Result<std::string> Unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == ',' || text[i] == '=') {
      // kube-apiserver prints the character's number.
      return BadRequest(fmt::format("invalid field selector: unescaped character in value: {}", int(text[i])));
    }
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const std::string_view next = text.substr(i + 1);
    if (next.empty() || (next[0] != '\\' && next[0] != ',' && next[0] != '=')) {
      return BadRequest(fmt::format("invalid field selector: invalid escape sequence: \\{}", FirstCharacter(next)));
    }
    out += next[0];
    ++i;
  }
  return out;
}

std::string Escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\' || c == ',' || c == '=') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

Result<FieldSelector> FieldSelector::Parse(std::string_view text) {
  std::vector<std::string_view> parts = SplitTerms(text);
  if (parts.size() > kMaxRequirements)
    return BadRequest(fmt::format("a field selector has more than {} terms", kMaxRequirements));
  std::sort(parts.begin(), parts.end());
  FieldSelector selector;
  for (const std::string_view part : parts) {
    if (part.empty()) continue;
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) {
      return BadRequest(fmt::format("invalid selector: '{}'; can't understand '{}'", text, part));
    }
    Term term;
    term.equal = equals == 0 || part[equals - 1] != '!';
    term.field = part.substr(0, term.equal ? equals : equals - 1);
    std::string_view value = part.substr(equals + 1);
    if (term.equal && value.starts_with('=')) value.remove_prefix(1);
    ASSIGN_OR_RETURN(term.value, Unescape(value));
    selector.terms_.push_back(std::move(term));
  }
  // The parsed terms are sorted, not their texts, so that equal selectors have equal texts: "a==b" and "a=b" would sort
  // differently.
  std::sort(selector.terms_.begin(), selector.terms_.end(), [](const Term& a, const Term& b) {
    return std::tie(a.field, a.equal, a.value) < std::tie(b.field, b.equal, b.value);
  });
  return selector;
}

bool FieldSelector::Matches(const Lookup& lookup) const {
  return std::all_of(terms_.begin(), terms_.end(),
                     [&](const Term& term) { return (lookup(term.field) == term.value) == term.equal; });
}

const std::string* FieldSelector::RequiresExactMatch(std::string_view field) const {
  for (const Term& term : terms_) {
    if (term.equal && term.field == field) return &term.value;
  }
  return nullptr;
}

std::string FieldSelector::ToString() const {
  std::string out;
  for (const Term& term : terms_) {
    if (!out.empty()) out += ',';
    out += fmt::format("{}{}{}", term.field, term.equal ? "=" : "!=", Escape(term.value));
  }
  return out;
}

}  // namespace apimesh::meta
