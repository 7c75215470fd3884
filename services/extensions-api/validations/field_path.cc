#include "services/extensions-api/validations/field_path.h"

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

bool IsDelimiter(char c) { return c == '.' || c == '[' || c == ']'; }

/// Takes a delimiter, a quoted string or the text up to the next delimiter off `rest`; "" at the end.
std::string_view NextToken(std::string_view& rest) {
  std::size_t size = 0;
  if (rest.starts_with('\'')) {
    for (size = 1; size < rest.size() && !(rest[size] == '\'' && rest[size - 1] != '\\'); ++size) {}
    size = std::min(size + 1, rest.size());
  } else if (!rest.empty()) {
    size = 1;
    while (!IsDelimiter(rest[0]) && size < rest.size() && !IsDelimiter(rest[size])) ++size;
  }
  const std::string_view token = rest.substr(0, size);
  rest.remove_prefix(size);
  return token;
}

/// The text of a string in single quotes.
std::optional<std::string> Unquoted(std::string_view token) {
  if (token.size() < 2 || token.front() != '\'' || token.back() != '\'') return std::nullopt;
  token = token.substr(1, token.size() - 2);
  static constexpr std::string_view kEscapes = "abfnrtv'\\", kCharacters = "\a\b\f\n\r\t\v'\\";
  std::string text;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] != '\\' || i + 1 == token.size()) {
      text += token[i];
      continue;
    }
    const std::size_t escape = kEscapes.find(token[++i]);
    if (escape == std::string_view::npos) return std::nullopt;
    text += kCharacters[escape];
  }
  return text;
}

/// The schema of a field or map entry; `named` tells which of the two it is.
const json::object* Step(const json::object& schema, std::string_view name, bool& named) {
  const json::value* properties = meta::FindField(schema, "properties");
  named = properties && properties->is_object() && !properties->get_object().empty();
  const json::value* next =
      named ? meta::FindField(properties->get_object(), name) : meta::FindField(schema, "additionalProperties");
  return next ? next->if_object() : nullptr;
}

}  // namespace

std::optional<std::string> NormalizeFieldPath(std::string_view path, const json::object& schema) {
  std::string out;
  const json::object* here = &schema;
  while (!path.empty()) {
    const std::string_view start = NextToken(path);
    const std::string_view token = NextToken(path);
    if ((start != "." && start != "[") || token.empty()) return std::nullopt;
    std::optional<std::string> name = start == "[" ? Unquoted(token) : std::string(token);
    bool named = false;
    here = name ? Step(*here, *name, named) : nullptr;
    if (!here || (start == "[" && NextToken(path) != "]")) return std::nullopt;
    if (named) {
      out += (out.empty() ? "" : ".") + *name;
    } else {
      out += '[' + *name + ']';
    }
  }
  return out;
}

}  // namespace apimesh::extensions_api
