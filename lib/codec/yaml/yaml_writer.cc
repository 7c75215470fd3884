#include <algorithm>
#include <vector>

#include "lib/codec/codec.h"
#include "lib/codec/yaml/yaml_scalar.h"
#include "lib/codec/yaml/yaml_text.h"

namespace apimesh::codec {
namespace {

namespace json = meta::json;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (static_cast<unsigned char>(c) >= 0x80);
}

/// The key order of Go's yaml.v2: letters after other characters, digit sequences by their numeric value.
bool KeyLess(std::string_view a, std::string_view b) {
  bool digits = false;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    if (a[i] == b[i]) {
      digits = IsDigit(a[i]);
      continue;
    }
    const bool letter_a = IsLetter(a[i]), letter_b = IsLetter(b[i]);
    if (letter_a && letter_b) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[i]);
    if (letter_a || letter_b) return digits ? letter_a : letter_b;
    if (IsDigit(a[i]) && IsDigit(b[i])) {
      std::size_t end_a = i, end_b = i;
      while (end_a < a.size() && IsDigit(a[end_a])) ++end_a;
      while (end_b < b.size() && IsDigit(b[end_b])) ++end_b;
      if (end_a != end_b) return end_a < end_b;
    }
    return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[i]);
  }
  return a.size() < b.size();
}

/// Returns whether a text can be written without quotes: it is parsed back as a string and contains no YAML syntax.
bool IsPlain(std::string_view text) {
  if (text.empty() || !ResolveYamlScalar(text).IsString() || LooksLikeYamlTime(text) || text == "<<" || text == "=")
    return false;
  if (text.front() == ' ' || text.back() == ' ' || text.starts_with("---") || text.starts_with("...")) return false;
  if (std::string_view(",[]{}#&*!|>'\"%@`").find(text.front()) != std::string_view::npos) return false;
  if ((text.front() == '-' || text.front() == '?' || text.front() == ':') && (text.size() == 1 || text[1] == ' '))
    return false;
  bool sexagesimal = true;  // 1:30 is a number in YAML 1.1
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ':' && (i + 1 == text.size() || text[i + 1] == ' ')) return false;
    if (c == '#' && text[i - 1] == ' ') return false;
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
    sexagesimal = sexagesimal && (IsDigit(c) || c == ':' || c == '.' || c == '_' || c == '-' || c == '+');
  }
  return !(sexagesimal && text.find(':') != std::string_view::npos);
}

/// Returns whether a text can be a literal block, which keeps its lines unchanged. The block header encodes how the
/// text ends.
bool FitsLiteral(std::string_view text) {
  if (text.find('\n') == std::string_view::npos || NeedsYamlEscapes(text)) return false;
  return text.find(" \n") == std::string_view::npos && text.back() != ' ';
}

YamlStyle StyleOf(std::string_view text) {
  if (text.find('\n') != std::string_view::npos || NeedsYamlEscapes(text)) return YamlStyle::kDoubleQuoted;
  if (IsPlain(text)) return YamlStyle::kPlain;
  return ResolveYamlScalar(text).IsString() && !LooksLikeYamlTime(text) ? YamlStyle::kSingleQuoted
                                                                        : YamlStyle::kDoubleQuoted;
}

class YamlWriter {
 public:
  std::string Take() { return std::move(out_); }

  /// Writes a value after "key:" or "-". `indent` is the indentation of its own lines.
  void Value(const json::value& value, std::size_t indent, bool in_list) {
    if (value.is_object() && !value.get_object().empty()) {
      Map(value.get_object(), indent, in_list);
    } else if (value.is_array() && !value.get_array().empty()) {
      List(value.get_array(), in_list ? indent : indent - std::min<std::size_t>(indent, 2), in_list);
    } else {
      out_ += ' ';
      Scalar(value, &indent);
      out_ += '\n';
    }
  }

  void Map(const json::object& object, std::size_t indent, bool in_list) {
    std::vector<const json::key_value_pair*> members;
    for (const auto& member : object) members.push_back(&member);
    std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) { return KeyLess(a->key(), b->key()); });
    bool first = true;
    for (const auto* member : members) {
      Begin(indent, first, in_list);
      first = false;
      Key(member->key());
      out_ += ':';
      Value(member->value(), indent + 2, false);
    }
  }

  void List(const json::array& array, std::size_t indent, bool in_list) {
    bool first = true;
    for (const json::value& element : array) {
      Begin(indent, first, in_list);
      first = false;
      out_ += '-';
      Value(element, indent + 2, true);
    }
  }

  /// `indent` is the indentation of further lines. If it is null, the value must stay in one line.
  void Scalar(const json::value& value, const std::size_t* indent) {
    if (!value.is_string()) {
      AppendJson(out_, value);
      return;
    }
    const std::string_view text = value.get_string();
    if (indent && FitsLiteral(text)) {
      Literal(text, *indent);
    } else {
      AppendYamlText(out_, text, StyleOf(text), indent);
    }
  }

 private:
  void Begin(std::size_t indent, bool first, bool in_list) {
    if (first && in_list) {
      out_ += ' ';
      return;
    }
    if (first && !out_.empty()) out_ += '\n';
    out_.append(indent, ' ');
  }

  void Key(std::string_view key) { Scalar(json::value(json::string_view(key.data(), key.size())), nullptr); }

  void Literal(std::string_view text, std::size_t indent) {
    const bool ends = text.ends_with('\n');
    out_ += '|';
    if (text.front() == ' ' || text.front() == '\n') out_ += '2';  // the indentation cannot be derived from the text
    if (!ends) out_ += '-';
    if (text == "\n" || text.ends_with("\n\n")) out_ += '+';
    std::string_view rest = ends ? text.substr(0, text.size() - 1) : text;
    for (;;) {
      const std::size_t end = rest.find('\n');
      out_ += '\n';
      if (end != 0 && !rest.empty()) {
        out_.append(std::max<std::size_t>(indent, 2), ' ');
        out_ += rest.substr(0, end);
      }
      if (end == std::string_view::npos) break;
      rest.remove_prefix(end + 1);
    }
  }

  std::string out_;
};

}  // namespace

std::string WriteYaml(const json::value& value) {
  YamlWriter writer;
  if (value.is_object() && !value.get_object().empty()) {
    writer.Map(value.get_object(), 0, false);
  } else if (value.is_array() && !value.get_array().empty()) {
    writer.List(value.get_array(), 0, false);
  } else {
    const std::size_t indent = 2;
    writer.Scalar(value, &indent);
    return writer.Take() + "\n";
  }
  return writer.Take();
}

std::string WriteYamlElement(const json::value& value, std::size_t indent) {
  YamlWriter writer;
  writer.Value(value, indent + 2, true);
  const std::string text = writer.Take();  // includes the space after the dash
  return text.substr(1, text.size() - 2);
}

}  // namespace apimesh::codec
