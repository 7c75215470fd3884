#pragma once

#include <array>
#include <initializer_list>

#include "lib/cel/syntax/lexer.h"

namespace apimesh::cel {

/// Reads tokens, and reports and repairs syntax errors as the parser of kube-apiserver does: a superfluous or a missing
/// token is reported once, and parsing continues.
class TokenStream {
 public:
  TokenStream(std::vector<Token> tokens, Problems& problems) : tokens_(std::move(tokens)), problems_(problems) {}

  const Token& Current() const { return tokens_[at_]; }
  const Token& Peek(std::size_t count = 1) const { return tokens_[std::min(at_ + count, tokens_.size() - 1)]; }
  const Token& Take() {
    const Token& out = tokens_[at_];
    if (at_ + 1 < tokens_.size()) ++at_;
    return out;
  }
  bool Is(std::string_view punctuation) const { return IsPunctuation(Current(), punctuation); }
  bool Accept(std::string_view punctuation) {
    if (!Is(punctuation)) return false;
    Take();
    return true;
  }
  /// The number of tokens of "a.b.C" if "{" follows, otherwise 0.
  std::size_t MessageNameSize() const;
  /// Reads a token that must be there. "" stands for the end.
  void Expect(std::string_view punctuation);
  /// Checks that an expression begins here; `more` can begin here instead, in the notation of messages.
  void ExpectStart(std::initializer_list<std::string_view> more = {});
  /// Checks that one of two tokens is here.
  void ExpectEither(std::string_view a, std::string_view b);

  /// Reports an error, after which nothing is read any more.
  void Fail(std::int32_t position, std::string text);
  void FailMismatch(std::string_view expecting);
  bool Failed() const { return failed_; }

  static bool IsPunctuation(const Token& token, std::string_view text) {
    return token.kind == Token::Kind::kPunctuation && token.text == text;
  }
  /// Whether an expression can begin with the token.
  static bool IsStart(const Token& token);

 private:
  bool IsExpected(const Token& token, std::string_view punctuation) const {
    return punctuation.empty() ? token.kind == Token::Kind::kEnd : IsPunctuation(token, punctuation);
  }
  /// Whether the current token can come after the token that is missing before it.
  bool CanFollow(std::string_view punctuation) const;
  void Extraneous(std::string_view expecting);

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  Problems& problems_;
  bool failed_ = false;
};

}  // namespace apimesh::cel
