#pragma once

#include <string_view>
#include <vector>

#include "lib/cel/syntax/problems.h"

namespace apimesh::cel {

struct Token {
  enum class Kind { kEnd, kIdentifier, kEscapedIdentifier, kInt, kUint, kFloat, kString, kBytes, kPunctuation };
  Kind kind = Kind::kEnd;  // the words true, false, null and in are punctuation
  std::string_view text;
  std::int32_t position = 0;
};

/// The tokens of an expression; the last one is kEnd. What is no token is reported and skipped.
std::vector<Token> Tokenize(std::string_view source, Problems& problems);

}  // namespace apimesh::cel
