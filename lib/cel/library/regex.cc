#include "lib/cel/library/regex.h"

#include <re2/re2.h>

#include "lib/cel/library/library.h"
#include "lib/cel/value/collections.h"

namespace apimesh::cel {
namespace {

using Kind = Value::Kind;
using Args = std::span<const Value>;

std::string_view GoErrorText(re2::RE2::ErrorCode code) {
  switch (code) {
    case re2::RE2::ErrorBadEscape: return "invalid escape sequence";
    case re2::RE2::ErrorBadCharClass: return "invalid character class";
    case re2::RE2::ErrorBadCharRange: return "invalid character class range";
    case re2::RE2::ErrorMissingBracket: return "missing closing ]";
    case re2::RE2::ErrorMissingParen: return "missing closing )";
    case re2::RE2::ErrorUnexpectedParen: return "unexpected )";
    case re2::RE2::ErrorTrailingBackslash: return "trailing backslash at end of expression";
    case re2::RE2::ErrorRepeatArgument: return "missing argument to repetition operator";
    case re2::RE2::ErrorRepeatSize: return "invalid repeat count";
    case re2::RE2::ErrorRepeatOp: return "invalid nested repetition operator";
    case re2::RE2::ErrorBadPerlOp: return "invalid or unsupported Perl syntax";
    case re2::RE2::ErrorBadUTF8: return "invalid UTF-8";
    case re2::RE2::ErrorBadNamedCapture: return "invalid named capture";
    default: return "expression too large";
  }
}

Value Find(const re2::RE2& pattern, std::string_view text) {
  re2::StringPiece match;
  if (!pattern.Match(re2::StringPiece(text.data(), text.size()), 0, text.size(), re2::RE2::UNANCHORED, &match, 1))
    return Value::String("");
  return Value::String({match.data(), match.size()});
}

// All matches that don't overlap. An empty match right after another match does not count, as in Go.
Value FindAll(const re2::RE2& pattern, std::string_view text, std::int64_t limit, Arena& arena) {
  ListBuilder out(arena);
  const re2::StringPiece piece(text.data(), text.size());
  std::size_t at = 0;
  std::size_t previous_end = std::string_view::npos;
  while (at <= text.size() && (limit < 0 || static_cast<std::int64_t>(out.Size()) < limit)) {
    re2::StringPiece match;
    if (!pattern.Match(piece, at, text.size(), re2::RE2::UNANCHORED, &match, 1)) break;
    const std::size_t begin = static_cast<std::size_t>(match.data() - text.data());
    const bool repeated = match.empty() && begin == previous_end;
    if (!repeated) out.Add(Value::String({match.data(), match.size()}));
    previous_end = begin + match.size();
    at = begin + match.size();
    if (!match.empty()) continue;
    ++at;  // never within a code point
    while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80) ++at;
  }
  return out.Build();
}

template <bool kIllegal>
Value WithPattern(std::string_view function, Args args, Arena& arena) {
  if (!args[0].Is(Kind::kString) || !args[1].Is(Kind::kString)) return NoSuchOverload();
  std::string error;
  const auto pattern = CompilePattern(args[1].AsString(), error);
  if (!pattern) return Value::Error(arena, (kIllegal ? "Illegal regex: " : "") + error);
  return EvalPattern(function, *pattern, args, arena);
}

}  // namespace

std::shared_ptr<const re2::RE2> CompilePattern(std::string_view pattern, std::string& error) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  auto out = std::make_shared<const re2::RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  if (out->ok()) return out;
  // Go reports the whole pattern where brackets do not match.
  const bool whole =
      out->error_code() == re2::RE2::ErrorMissingParen || out->error_code() == re2::RE2::ErrorUnexpectedParen;
  error = fmt::format("error parsing regexp: {}: `{}`", GoErrorText(out->error_code()),
                      whole ? std::string(pattern) : out->error_arg());
  return nullptr;
}

Value EvalPattern(std::string_view function, const re2::RE2& pattern, Args args, Arena& arena) {
  if (!args[0].Is(Kind::kString)) return NoSuchOverload();
  const std::string_view text = args[0].AsString();
  if (function == "matches")
    return Value::Bool(re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), pattern));
  if (function == "find") return Find(pattern, text);
  if (args.size() == 3 && !args[2].Is(Kind::kInt)) return NoSuchOverload();
  return FindAll(pattern, text, args.size() == 3 ? args[2].AsInt() : -1, arena);
}

void AddRegex(Declarations& out) {
  const Body find_all = [](Args args, Arena& arena) { return WithPattern<true>("findAll", args, arena); };
  out.Add("find",
          {"string_find_string", true, {Type::String(), Type::String()}, Type::String(), [](Args args, Arena& arena) {
             return WithPattern<true>("find", args, arena);
           }});
  out.Add("findAll",
          {"string_find_all_string", true, {Type::String(), Type::String()}, Type::List(Type::String()), find_all});
  out.Add("findAll", {"string_find_all_string_int",
                      true,
                      {Type::String(), Type::String(), Type::Int()},
                      Type::List(Type::String()),
                      find_all});
}

void AddStandardStrings(Declarations& out) {
  const std::vector<TypeRef> two = {Type::String(), Type::String()};
  out.Add("contains", {"contains_string", true, two, Type::Bool(), [](Args args, Arena&) {
                         if (!args[0].Is(Kind::kString) || !args[1].Is(Kind::kString)) return NoSuchOverload();
                         return Value::Bool(args[0].AsString().find(args[1].AsString()) != std::string_view::npos);
                       }});
  out.Add("endsWith", {"ends_with_string", true, two, Type::Bool(), [](Args args, Arena&) {
                         if (!args[0].Is(Kind::kString) || !args[1].Is(Kind::kString)) return NoSuchOverload();
                         return Value::Bool(args[0].AsString().ends_with(args[1].AsString()));
                       }});
  out.Add("startsWith", {"starts_with_string", true, two, Type::Bool(), [](Args args, Arena&) {
                           if (!args[0].Is(Kind::kString) || !args[1].Is(Kind::kString)) return NoSuchOverload();
                           return Value::Bool(args[0].AsString().starts_with(args[1].AsString()));
                         }});
  out.Add("matches", {"matches", false, two, Type::Bool(), nullptr});
  out.Add("matches", {"matches_string", true, two, Type::Bool(), nullptr});
  for (const char* name : {"contains", "endsWith", "startsWith"}) out.functions[name].unguarded = true;
  out.functions["matches"].body = [](Args args, Arena& arena) { return WithPattern<false>("matches", args, arena); };
}

}  // namespace apimesh::cel
