#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/cel/value.h"

namespace apimesh::cel {

struct Token {
  enum class Kind { kEnd, kIdentifier, kLiteral, kPunctuation };
  Kind kind = Kind::kEnd;
  std::string text;  // of an identifier or punctuation
  Value literal;
  std::size_t position = 0;  // byte offset in the source
};

/// Where and what; made into the reference's message by FormatProblem().
struct Problem {
  std::size_t position = 0;
  std::string text;
};

/// All tokens, the last one kEnd. On a problem `problem` is set and the tokens are worth nothing.
std::vector<Token> Tokenize(std::string_view source, std::optional<Problem>& problem);

/// "ERROR: <input>:1:5: text" with the line and a caret below.
std::string FormatProblem(std::string_view source, const Problem& problem);

}  // namespace apimesh::cel
