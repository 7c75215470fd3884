#include "services/extensions-api/custom_resources/json_path.h"

#include <charconv>

namespace apimesh::extensions_api {
namespace {

namespace json = meta::json;

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<std::string> Unquote(std::string_view text) {
  if (text.size() < 2 || text.front() != text.back() || (text.front() != '\'' && text.front() != '"'))
    return std::nullopt;
  return std::string(text.substr(1, text.size() - 2));
}

/// Returns the end of a bracket whose content begins at `from`. Brackets inside of quotes are skipped.
std::size_t BracketEnd(std::string_view text, std::size_t from) {
  char quote = 0;
  int depth = 0;
  for (std::size_t i = from; i < text.size(); ++i) {
    const char c = text[i];
    if (quote) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '[') {
      ++depth;
    } else if (c == ']' && depth-- == 0) {
      return i;
    }
  }
  return std::string_view::npos;
}

std::optional<json::value> ReadLiteral(std::string_view text) {
  if (const std::optional<std::string> quoted = Unquote(text)) return json::value(*quoted);
  boost::system::error_code error;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error);
  return error ? std::nullopt : std::optional(std::move(value));
}

std::optional<int> Compare(const json::value& a, const json::value& b) {
  if (a.is_number() && b.is_number()) {
    const double x = a.to_number<double>(), y = b.to_number<double>();
    return x < y ? -1 : x > y ? 1 : 0;
  }
  if (a.is_string() && b.is_string()) return a.get_string().compare(b.get_string());
  if (a.is_bool() && b.is_bool()) return static_cast<int>(a.get_bool()) - static_cast<int>(b.get_bool());
  return std::nullopt;
}

}  // namespace

std::optional<JsonPath::Step> JsonPath::ParseFilter(std::string_view expression) {
  for (const char* op : {"==", "!=", "<=", ">=", "<", ">"}) {
    const std::size_t at = expression.find(op);
    if (at == std::string_view::npos) continue;
    const std::string_view left = Trim(expression.substr(0, at)),
                           right = Trim(expression.substr(at + std::string_view(op).size()));
    if (!left.starts_with("@.")) return std::nullopt;
    const std::optional<json::value> operand = ReadLiteral(right);
    if (!operand) return std::nullopt;
    Filter filter{{}, op, *operand};
    for (std::string_view rest = left.substr(2); !rest.empty();) {
      const std::size_t dot = rest.find('.');
      filter.path.emplace_back(rest.substr(0, dot));
      rest.remove_prefix(dot == std::string_view::npos ? rest.size() : dot + 1);
    }
    return Step(std::move(filter));
  }
  return std::nullopt;
}

std::optional<JsonPath::Step> JsonPath::ParseBracket(std::string_view inside) {
  inside = Trim(inside);
  if (inside == "*") return Step(All{});
  if (inside.starts_with("?(") && inside.ends_with(')')) return ParseFilter(inside.substr(2, inside.size() - 3));
  if (const std::optional<std::string> name = Unquote(inside)) return Step(Field{*name});
  std::int64_t index = 0;
  const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), index);
  if (error != std::errc() || end != inside.data() + inside.size()) return std::nullopt;
  return Step(Index{index});
}

std::optional<JsonPath> JsonPath::Parse(std::string_view text) {
  JsonPath path;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '[') {
      const std::size_t end = BracketEnd(text, i + 1);
      if (end == std::string_view::npos) return std::nullopt;
      std::optional<Step> step = ParseBracket(text.substr(i + 1, end - i - 1));
      if (!step) return std::nullopt;
      path.steps_.push_back(std::move(*step));
      i = end + 1;
    } else if (text[i] == '.') {
      std::string name;
      for (++i; i < text.size() && text[i] != '.' && text[i] != '['; ++i) {
        if (text[i] == '\\' && i + 1 < text.size()) ++i;
        name += text[i];
      }
      if (name == "*") {
        path.steps_.emplace_back(All{});
      } else if (!name.empty()) {
        path.steps_.emplace_back(Field{std::move(name)});
      }
    } else {
      return std::nullopt;
    }
  }
  return path;
}

bool JsonPath::Matches(const Filter& filter, const json::value& element) {
  const json::value* here = &element;
  for (const std::string& name : filter.path) {
    here = here->is_object() ? meta::FindField(here->get_object(), name) : nullptr;
    if (!here) return false;
  }
  const std::optional<int> order = Compare(*here, filter.operand);
  if (!order) return false;
  if (filter.op == "==") return *order == 0;
  if (filter.op == "!=") return *order != 0;
  if (filter.op == "<") return *order < 0;
  if (filter.op == ">") return *order > 0;
  return filter.op == "<=" ? *order <= 0 : *order >= 0;
}

std::vector<std::string> JsonPath::LeadingFields() const {
  std::vector<std::string> names;
  for (const Step& step : steps_) {
    const auto* field = std::get_if<Field>(&step);
    if (!field) break;
    names.push_back(field->name);
  }
  return names;
}

const json::value* JsonPath::First(const json::object& root) const {
  if (steps_.empty() || !std::holds_alternative<Field>(steps_[0])) return nullptr;
  const json::value* first = meta::FindField(root, std::get<Field>(steps_[0]).name);
  return first ? Walk(*first, 1) : nullptr;
}

const json::value* JsonPath::Walk(const json::value& from, std::size_t step) const {
  if (step == steps_.size()) return &from;
  if (const auto* field = std::get_if<Field>(&steps_[step])) {
    const json::value* next = from.is_object() ? meta::FindField(from.get_object(), field->name) : nullptr;
    return next ? Walk(*next, step + 1) : nullptr;
  }
  if (const auto* index = std::get_if<Index>(&steps_[step])) {
    if (!from.is_array()) return nullptr;
    const json::array& list = from.get_array();
    const std::int64_t at = index->index < 0 ? index->index + static_cast<std::int64_t>(list.size()) : index->index;
    return at < 0 || at >= static_cast<std::int64_t>(list.size()) ? nullptr
                                                                  : Walk(list[static_cast<std::size_t>(at)], step + 1);
  }
  const auto* filter = std::get_if<Filter>(&steps_[step]);
  const auto visit = [&](const json::value& element) -> const json::value* {
    return filter && !Matches(*filter, element) ? nullptr : Walk(element, step + 1);
  };
  if (from.is_array()) {
    for (const json::value& element : from.get_array()) {
      if (const json::value* found = visit(element)) return found;
    }
  } else if (from.is_object()) {
    for (const auto& member : from.get_object()) {
      if (const json::value* found = visit(member.value())) return found;
    }
  }
  return nullptr;
}

}  // namespace apimesh::extensions_api
