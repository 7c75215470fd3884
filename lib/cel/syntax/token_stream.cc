#include "lib/cel/syntax/token_stream.h"

#include <algorithm>

namespace apimesh::cel {
namespace {

// In the order of the grammar's tokens; messages list what is expected in this order.
constexpr std::string_view kOrder[] = {"'['",       "']'",     "'{'",      "'}'",    "'('",    "')'",       "'.'",
                                       "','",       "'-'",     "'!'",      "'?'",    "'true'", "'false'",   "'null'",
                                       "NUM_FLOAT", "NUM_INT", "NUM_UINT", "STRING", "BYTES",  "IDENTIFIER"};
constexpr std::string_view kStart[] = {"'['",     "'{'",      "'('",     "'.'",    "'-'",
                                       "'!'",     "'true'",   "'false'", "'null'", "NUM_FLOAT",
                                       "NUM_INT", "NUM_UINT", "STRING",  "BYTES",  "IDENTIFIER"};

std::string StartSet(std::initializer_list<std::string_view> more) {
  std::string out = "{";
  for (const std::string_view name : kOrder) {
    if (std::find(std::begin(kStart), std::end(kStart), name) == std::end(kStart) &&
        std::find(more.begin(), more.end(), name) == more.end())
      continue;
    if (out.size() > 1) out += ", ";
    out += name;
  }
  return out + "}";
}

}  // namespace

bool TokenStream::IsStart(const Token& token) {
  if (token.kind == Token::Kind::kEnd || token.kind == Token::Kind::kEscapedIdentifier) return false;
  if (token.kind != Token::Kind::kPunctuation) return true;
  return std::find(std::begin(kStart), std::end(kStart), fmt::format("'{}'", token.text)) != std::end(kStart);
}

std::size_t TokenStream::MessageNameSize() const {
  for (std::size_t i = 0; Peek(i).kind == Token::Kind::kIdentifier; i += 2) {
    if (IsPunctuation(Peek(i + 1), "{")) return i + 1;
    if (!IsPunctuation(Peek(i + 1), ".")) break;
  }
  return 0;
}

void TokenStream::Fail(std::int32_t position, std::string text) {
  if (failed_) return;
  failed_ = true;
  problems_.Add(position, std::move(text));
  at_ = tokens_.size() - 1;  // every loop ends here
}

void TokenStream::FailMismatch(std::string_view expecting) {
  Fail(Current().position, fmt::format("Syntax error: mismatched input '{}' expecting {}", Current().text, expecting));
}

void TokenStream::Extraneous(std::string_view expecting) {
  problems_.Add(Current().position,
                fmt::format("Syntax error: extraneous input '{}' expecting {}", Current().text, expecting));
  Take();
}

bool TokenStream::CanFollow(std::string_view punctuation) const {
  if (punctuation == ":") return IsStart(Current());
  if (punctuation.empty()) return false;
  if (Current().kind == Token::Kind::kEnd) return true;
  // Closing brackets are followed by operators, other closing brackets and commas.
  return Current().kind == Token::Kind::kPunctuation && Current().text != "true" && Current().text != "false" &&
         Current().text != "null" && Current().text != "!" && Current().text != "{" && Current().text != "(";
}

void TokenStream::Expect(std::string_view punctuation) {
  if (failed_) return;
  if (IsExpected(Current(), punctuation)) {
    Take();
    return;
  }
  const std::string shown = punctuation.empty() ? "<EOF>" : fmt::format("'{}'", punctuation);
  if (Current().kind != Token::Kind::kEnd && IsExpected(Peek(), punctuation)) {
    Extraneous(shown);
    Take();
  } else if (CanFollow(punctuation)) {
    problems_.Add(Current().position, fmt::format("Syntax error: missing {} at '{}'", shown, Current().text));
  } else {
    FailMismatch(shown);
  }
}

void TokenStream::ExpectStart(std::initializer_list<std::string_view> more) {
  const auto starts = [&](const Token& token) {
    return IsStart(token) || (token.kind == Token::Kind::kPunctuation &&
                              std::find(more.begin(), more.end(), fmt::format("'{}'", token.text)) != more.end());
  };
  if (failed_ || starts(Current())) return;
  if (Current().kind != Token::Kind::kEnd && starts(Peek())) {
    Extraneous(StartSet(more));
  } else {
    FailMismatch(StartSet(more));
  }
}

void TokenStream::ExpectEither(std::string_view a, std::string_view b) {
  if (failed_ || Is(a) || Is(b)) return;
  const std::string expecting = fmt::format("{{'{}', '{}'}}", a, b);
  if (Current().kind != Token::Kind::kEnd && (IsPunctuation(Peek(), a) || IsPunctuation(Peek(), b))) {
    Extraneous(expecting);
  } else {
    FailMismatch(expecting);
  }
}

}  // namespace apimesh::cel
