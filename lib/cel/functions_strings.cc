#include <re2/re2.h>

#include "lib/cel/functions.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;
using Arguments = std::span<const Value>;

bool Strings(Arguments a) {
  return std::all_of(a.begin(), a.end(), [](const Value& v) { return v.Is(Kind::kString); });
}

// The byte at which code point `index` begins; npos beyond the end. `index` may be the size.
std::size_t ByteOf(std::string_view text, std::int64_t index) {
  std::size_t at = 0;
  for (; index > 0 && at < text.size(); --index) {
    for (++at; at < text.size() && (text[at] & 0xC0) == 0x80;) ++at;
  }
  return index == 0 ? at : std::string_view::npos;
}
Value CodePointIndex(std::string_view text, std::size_t byte) {
  return Value::Int(static_cast<std::int64_t>(CodePoints(text.substr(0, byte))));
}
Value OutOfRange(std::int64_t index) { return Value::Error(fmt::format("index out of range: {}", index)); }

Value StartsWith(Arguments a) {
  return Strings(a) ? Value::Bool(a[0].AsString().starts_with(a[1].AsString())) : NoOverload();
}
Value EndsWith(Arguments a) {
  return Strings(a) ? Value::Bool(a[0].AsString().ends_with(a[1].AsString())) : NoOverload();
}
Value Contains(Arguments a) {
  return Strings(a) ? Value::Bool(a[0].AsString().find(a[1].AsString()) != std::string::npos) : NoOverload();
}

Value Matches(Arguments a) {
  if (!Strings(a)) return NoOverload();
  const re2::RE2 pattern(a[1].AsString(), re2::RE2::Quiet);
  if (!pattern.ok()) return Value::Error("error parsing regexp: " + pattern.error());
  return Value::Bool(re2::RE2::PartialMatch(a[0].AsString(), pattern));
}

Value Find(Arguments a) {
  if (!Strings(a)) return NoOverload();
  const re2::RE2 pattern("(" + a[1].AsString() + ")", re2::RE2::Quiet);
  if (!pattern.ok()) return Value::Error("Illegal regex: " + pattern.error());
  re2::StringPiece found;
  return Value::String(re2::RE2::PartialMatch(a[0].AsString(), pattern, &found) ? std::string(found) : "");
}

Value FindAll(Arguments a) {
  if (!Strings(a.first(2)) || (a.size() == 3 && !a[2].Is(Kind::kInt))) return NoOverload();
  const re2::RE2 pattern("(" + a[1].AsString() + ")", re2::RE2::Quiet);
  if (!pattern.ok()) return Value::Error("Illegal regex: " + pattern.error());
  const std::int64_t limit = a.size() == 3 && a[2].AsInt() >= 0 ? a[2].AsInt() : INT64_MAX;
  std::vector<Value> all;
  re2::StringPiece rest(a[0].AsString()), found;
  while (static_cast<std::int64_t>(all.size()) < limit && re2::RE2::FindAndConsume(&rest, pattern, &found)) {
    all.push_back(Value::String(std::string(found)));
    if (found.empty()) {
      if (rest.empty()) break;
      rest.remove_prefix(1);
    }
  }
  return Value::FromList(std::move(all));
}

template <class Change>
Value Mapped(Arguments a, Change change) {
  if (!a[0].Is(Kind::kString)) return NoOverload();
  std::string text = a[0].AsString();
  for (char& c : text) c = change(c);
  return Value::String(std::move(text));
}
Value LowerAscii(Arguments a) {
  return Mapped(a, [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
}
Value UpperAscii(Arguments a) {
  return Mapped(a, [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
}

Value Trim(Arguments a) {
  if (!a[0].Is(Kind::kString)) return NoOverload();
  constexpr char kSpace[] = " \t\n\v\f\r";
  const std::string& text = a[0].AsString();
  const std::size_t begin = text.find_first_not_of(kSpace);
  return Value::String(begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1));
}

Value CharAt(Arguments a) {
  if (!a[0].Is(Kind::kString) || !a[1].Is(Kind::kInt)) return NoOverload();
  const std::size_t begin = a[1].AsInt() < 0 ? std::string::npos : ByteOf(a[0].AsString(), a[1].AsInt());
  if (begin == std::string::npos) return OutOfRange(a[1].AsInt());
  const std::string_view rest = std::string_view(a[0].AsString()).substr(begin);
  return Value::String(std::string(rest.substr(0, ByteOf(rest, rest.empty() ? 0 : 1))));
}

Value Substring(Arguments a) {
  if (!a[0].Is(Kind::kString) || !a[1].Is(Kind::kInt) || (a.size() == 3 && !a[2].Is(Kind::kInt))) return NoOverload();
  const std::string& text = a[0].AsString();
  const std::size_t begin = a[1].AsInt() < 0 ? std::string::npos : ByteOf(text, a[1].AsInt());
  if (begin == std::string::npos) return OutOfRange(a[1].AsInt());
  if (a.size() == 2) return Value::String(text.substr(begin));
  const std::size_t end = a[2].AsInt() < 0 ? std::string::npos : ByteOf(text, a[2].AsInt());
  if (end == std::string::npos) return OutOfRange(a[2].AsInt());
  if (end < begin)
    return Value::Error(fmt::format("invalid substring range. start: {}, end: {}", a[1].AsInt(), a[2].AsInt()));
  return Value::String(text.substr(begin, end - begin));
}

Value Replace(Arguments a) {
  if (!Strings(a.first(3)) || (a.size() == 4 && !a[3].Is(Kind::kInt))) return NoOverload();
  const std::string &text = a[0].AsString(), &from = a[1].AsString(), &to = a[2].AsString();
  std::int64_t left = a.size() == 4 ? a[3].AsInt() : -1;
  std::string out;
  std::size_t at = 0;
  if (from.empty()) {  // before every code point, and at the end
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if ((i == text.size() || (text[i] & 0xC0) != 0x80) && left-- != 0) out += to;
      if (i < text.size()) out += text[i];
    }
    return Value::String(std::move(out));
  }
  for (std::size_t found; left != 0 && (found = text.find(from, at)) != text.npos; --left) {
    out.append(text, at, found - at).append(to);
    at = found + from.size();
  }
  return Value::String(out.append(text, at));
}

Value Split(Arguments a) {
  if (!Strings(a.first(2)) || (a.size() == 3 && !a[2].Is(Kind::kInt))) return NoOverload();
  const std::string &text = a[0].AsString(), &separator = a[1].AsString();
  const std::int64_t limit = a.size() == 3 ? a[2].AsInt() : -1;
  std::vector<Value> parts;
  if (limit == 0) return Value::FromList(std::move(parts));
  std::size_t at = 0;
  while (limit < 0 || static_cast<std::int64_t>(parts.size()) < limit - 1) {
    std::size_t end = separator.empty() ? at + ByteOf(std::string_view(text).substr(at), at < text.size() ? 1 : 0)
                                        : text.find(separator, at);
    if (end == text.npos || (separator.empty() && end >= text.size())) break;
    parts.push_back(Value::String(text.substr(at, end - at)));
    at = end + separator.size();
  }
  parts.push_back(Value::String(text.substr(at)));
  return Value::FromList(std::move(parts));
}

Value Reverse(Arguments a) {
  if (!a[0].Is(Kind::kString)) return NoOverload();
  const std::string_view text = a[0].AsString();
  std::string out;
  for (std::size_t end = text.size(); end > 0;) {
    std::size_t begin = end - 1;
    while (begin > 0 && (text[begin] & 0xC0) == 0x80) --begin;
    out += text.substr(begin, end - begin);
    end = begin;
  }
  return Value::String(std::move(out));
}

// Of strings and, with two arguments, of lists.
Value IndexIn(Arguments a, bool last) {
  if (a[0].Is(Kind::kList) && a.size() == 2) {
    std::int64_t found = -1;
    for (std::size_t i = 0; i < a[0].AsList().Size() && (last || found < 0); ++i) {
      if (Equal(a[0].AsList().At(i), a[1])) found = static_cast<std::int64_t>(i);
    }
    return Value::Int(found);
  }
  if (!Strings(a.first(2)) || (a.size() == 3 && !a[2].Is(Kind::kInt))) return NoOverload();
  const std::string& text = a[0].AsString();
  std::size_t from = last ? std::string::npos : 0;
  if (a.size() == 3) {
    from = a[2].AsInt() < 0 ? std::string::npos : ByteOf(text, a[2].AsInt());
    if (from == std::string::npos) return OutOfRange(a[2].AsInt());
  }
  const std::size_t found = last ? text.rfind(a[1].AsString(), from) : text.find(a[1].AsString(), from);
  return found == text.npos ? Value::Int(-1) : CodePointIndex(text, found);
}
Value FirstIndex(Arguments a) { return IndexIn(a, false); }
Value LastIndex(Arguments a) { return IndexIn(a, true); }

}  // namespace

std::vector<NamedFunction> StringMethods() {
  using Result = Type::Kind;
  return {{"startsWith", {&StartsWith, 2, 2, Result::kBool, true}},
          {"endsWith", {&EndsWith, 2, 2, Result::kBool, true}},
          {"contains", {&Contains, 2, 2, Result::kBool, true}},
          {"matches", {&Matches, 2, 2, Result::kBool, true}},
          {"find", {&Find, 2, 2, Result::kString, true}},
          {"findAll", {&FindAll, 2, 3, Result::kList, true}},
          {"lowerAscii", {&LowerAscii, 1, 1, Result::kString, true}},
          {"upperAscii", {&UpperAscii, 1, 1, Result::kString, true}},
          {"trim", {&Trim, 1, 1, Result::kString, true}},
          {"charAt", {&CharAt, 2, 2, Result::kString, true}},
          {"substring", {&Substring, 2, 3, Result::kString, true}},
          {"replace", {&Replace, 3, 4, Result::kString, true}},
          {"split", {&Split, 2, 3, Result::kList, true}},
          {"reverse", {&Reverse, 1, 1, Result::kString, true}},
          {"indexOf", {&FirstIndex, 2, 3, Result::kInt, true}},
          {"lastIndexOf", {&LastIndex, 2, 3, Result::kInt, true}}};
}

}  // namespace apimesh::cel
