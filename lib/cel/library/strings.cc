#include <algorithm>

#include "lib/base/text/utf8.h"
#include "lib/cel/library/format_text.h"
#include "lib/cel/library/library.h"
#include "lib/cel/value/collections.h"
#include "lib/cel/value/text.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;
using Args = std::span<const Value>;
using Runes = std::vector<char32_t>;

Value Text(Arena& arena, std::string_view text) { return Value::String(arena.Copy(text)); }
Value OutOfRange(Arena& arena, std::int64_t index) { return Errorf(arena, "index out of range: {}", index); }

Value CharAt(Args args, Arena& arena) {
  const Runes runes = ToCodePoints(args[0].AsString());
  const std::int64_t index = args[1].AsInt();
  if (index < 0 || index > static_cast<std::int64_t>(runes.size())) return OutOfRange(arena, index);
  const char32_t* at = runes.data() + index;
  return Text(arena, index == static_cast<std::int64_t>(runes.size()) ? "" : ToUtf8(at, at + 1));
}

Value IndexOf(Args args, Arena& arena) {
  const std::int64_t offset = args.size() == 3 ? args[2].AsInt() : 0;
  if (args[1].AsString().empty()) return Value::Int(offset);
  if (offset < 0) return OutOfRange(arena, offset);
  const Runes text = ToCodePoints(args[0].AsString()), part = ToCodePoints(args[1].AsString());
  if (offset >= static_cast<std::int64_t>(text.size())) return Value::Int(-1);
  const auto found = std::search(text.begin() + offset, text.end(), part.begin(), part.end());
  return Value::Int(found == text.end() ? -1 : found - text.begin());
}

Value LastIndexOf(Args args, Arena& arena) {
  const Runes text = ToCodePoints(args[0].AsString()), part = ToCodePoints(args[1].AsString());
  const std::int64_t size = static_cast<std::int64_t>(text.size());
  if (args.size() == 2 && part.empty()) return Value::Int(size);
  if (args.size() == 2 && args[0].AsString().size() < args[1].AsString().size()) return Value::Int(-1);
  std::int64_t offset = args.size() == 3 ? args[2].AsInt() : size - 1;
  if (part.empty()) return Value::Int(offset);
  if (offset < 0) return OutOfRange(arena, offset);
  if (offset >= size) return Value::Int(-1);
  offset = std::min(offset, size - static_cast<std::int64_t>(part.size()));
  for (; offset >= 0; --offset) {
    if (std::equal(part.begin(), part.end(), text.begin() + offset)) break;
  }
  return Value::Int(offset < 0 ? -1 : offset);
}

template <bool kUpper>
Value ChangeCase(Args args, Arena& arena) {
  std::string text(args[0].AsString());
  for (char& c : text) {
    if (kUpper ? c >= 'a' && c <= 'z' : c >= 'A' && c <= 'Z') c ^= 0x20;
  }
  return Text(arena, text);
}

// An empty text is found before every character and at the end.
Value Replace(Args args, Arena& arena) {
  const std::string_view text = args[0].AsString(), old = args[1].AsString(), with = args[2].AsString();
  std::int64_t limit = args.size() == 4 ? args[3].AsInt() : -1;
  if (limit < 0) limit = INT64_MAX;
  std::string out;
  std::size_t at = 0;
  for (; limit > 0 && out.size() <= kMaxMadeText; --limit) {
    if (old.empty()) {
      out += with;
      if (at >= text.size()) return Text(arena, out);
      const std::size_t begin = at;
      NextCodePoint(text, at);
      if (limit == 1) {
        at = begin;
        break;
      }
      out += text.substr(begin, at - begin);
      continue;
    }
    const std::size_t found = text.find(old, at);
    if (found == std::string_view::npos) break;
    out += text.substr(at, found - at);
    out += with;
    at = found + old.size();
  }
  out += text.substr(std::min(at, text.size()));
  return Text(arena, out);
}

Value Split(Args args, Arena& arena) {
  std::string_view text = args[0].AsString();
  const std::string_view separator = args[1].AsString();
  const std::int64_t limit = args.size() == 3 ? args[2].AsInt() : -1;
  ListBuilder out(arena);
  if (limit == 0 || (separator.empty() && text.empty())) return out.Build();
  while (limit < 0 || static_cast<std::int64_t>(out.Size()) + 1 < limit) {
    std::size_t end = text.find(separator), next = end + separator.size();
    if (separator.empty()) {
      end = 0;
      NextCodePoint(text, end);
      if (end == text.size()) break;
      next = end;
    }
    if (end == std::string_view::npos) break;
    out.Add(Value::String(text.substr(0, end)));
    text.remove_prefix(next);
  }
  out.Add(Value::String(text));
  return out.Build();
}

Value Substring(Args args, Arena& arena) {
  const Runes runes = ToCodePoints(args[0].AsString());
  const std::int64_t size = static_cast<std::int64_t>(runes.size()), start = args[1].AsInt();
  const std::int64_t end = args.size() == 3 ? args[2].AsInt() : size;
  if (args.size() == 3 && start > end) return Errorf(arena, "invalid substring range. start: {}, end: {}", start, end);
  if (start < 0 || start > size) return OutOfRange(arena, start);
  if (end < 0 || end > size) return OutOfRange(arena, end);
  return Text(arena, ToUtf8(runes.data() + start, runes.data() + end));
}

// Unicode's white space.
bool IsSpace(char32_t c) {
  return (c >= 9 && c <= 13) || c == ' ' || c == 0x85 || c == 0xa0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200a) ||
         c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

Value Trim(Args args, Arena& arena) {
  const Runes runes = ToCodePoints(args[0].AsString());
  const char32_t *begin = runes.data(), *end = begin + runes.size();
  while (begin < end && IsSpace(*begin)) ++begin;
  while (begin < end && IsSpace(end[-1])) --end;
  return Text(arena, ToUtf8(begin, end));
}

Value Join(Args args, Arena& arena) {
  const std::string_view separator = args.size() == 2 ? args[1].AsString() : "";
  std::string out;
  for (std::size_t i = 0; i < ListSize(args[0]) && out.size() <= kMaxMadeText; ++i) {
    const Value item = ListAt(args[0], i, arena);
    if (i) out += separator;
    if (!item.Is(Kind::kString)) return Errorf(arena, "join: invalid input: {}", ToMessage(item, arena));
    out += item.AsString();
  }
  return Text(arena, out);
}

Value Quote(Args args, Arena& arena) {
  std::string out = "\"";
  for (const char32_t c : ToCodePoints(args[0].AsString())) {
    constexpr std::string_view kSpecial = "\a\b\f\n\r\t\v\\\"", kNames = "abfnrtv\\\"";
    const std::size_t found = c < 0x80 && c != 0 ? kSpecial.find(static_cast<char>(c)) : std::string_view::npos;
    if (found == std::string_view::npos) {
      AppendUtf8(out, c);
    } else {
      out += '\\';
      out += kNames[found];
    }
  }
  return Text(arena, out + "\"");
}

Value Format(Args args, Arena& arena) {
  std::string out, error;
  if (!FormatText(args[0].AsString(), args[1], arena, out, error)) return Value::Error(arena, error);
  return Text(arena, out);
}

}  // namespace

void AddStrings(Declarations& out, int version) {
  const TypeRef &s = Type::String(), &i = Type::Int(), list = Type::List(s);
  const auto add = [&](const char* function, const char* id, std::vector<TypeRef> args, TypeRef result, Body body) {
    out.Add(function, {id, true, std::move(args), std::move(result), body});
  };
  add("charAt", "string_char_at_int", {s, i}, s, CharAt);
  add("indexOf", "string_index_of_string", {s, s}, i, IndexOf);
  add("indexOf", "string_index_of_string_int", {s, s, i}, i, IndexOf);
  add("lastIndexOf", "string_last_index_of_string", {s, s}, i, LastIndexOf);
  add("lastIndexOf", "string_last_index_of_string_int", {s, s, i}, i, LastIndexOf);
  add("lowerAscii", "string_lower_ascii", {s}, s, ChangeCase<false>);
  add("replace", "string_replace_string_string", {s, s, s}, s, Replace);
  add("replace", "string_replace_string_string_int", {s, s, s, i}, s, Replace);
  add("split", "string_split_string", {s, s}, list, Split);
  add("split", "string_split_string_int", {s, s, i}, list, Split);
  add("substring", "string_substring_int", {s, i}, s, Substring);
  add("substring", "string_substring_int_int", {s, i, i}, s, Substring);
  add("trim", "string_trim", {s}, s, Trim);
  add("upperAscii", "string_upper_ascii", {s}, s, ChangeCase<true>);
  add("join", "list_join", {list}, s, Join);
  add("join", "list_join_string", {list, s}, s, Join);
  if (version == 0) return;
  add("format", "string_format", {s, Type::List(Type::Dyn())}, s, Format);
  out.Add("strings.quote", {"strings_quote", false, {s}, s, Quote});
}

}  // namespace apimesh::cel
