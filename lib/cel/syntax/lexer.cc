#include "lib/cel/syntax/lexer.h"

#include "lib/cel/value/text.h"

namespace apimesh::cel {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
bool IsOctal(char c) { return c >= '0' && c <= '7'; }

/// The longest token at the start of a text. `size` 0: none; `examined` is how much was read to see that.
struct Match {
  Token::Kind kind = Token::Kind::kPunctuation;
  std::size_t size = 0;
  std::size_t examined = 0;
};

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  Match Next() {
    const char c = text_[0];
    if (IsDigit(c) || (c == '.' && IsDigit(At(1)))) return Number();
    if (c == '"' || c == '\'' || IsStringPrefix()) return String();
    if (IsLetter(c)) return Word();
    if (c == '`') return Escaped();
    return Punctuation();
  }

 private:
  char At(std::size_t i) const { return i < text_.size() ? text_[i] : '\0'; }
  template <typename F>
  std::size_t While(std::size_t i, F&& predicate) const {
    while (i < text_.size() && predicate(text_[i])) ++i;
    return i;
  }

  // b, r, br in any case, followed by a quote. "rb" is no prefix.
  bool IsStringPrefix() const {
    std::size_t i = 0;
    if (At(i) == 'b' || At(i) == 'B') ++i;
    if (At(i) == 'r' || At(i) == 'R') ++i;
    return i > 0 && (At(i) == '"' || At(i) == '\'');
  }

  Match Word() const {
    const std::size_t size = While(0, [](char c) { return IsLetter(c) || IsDigit(c); });
    const std::string_view word = text_.substr(0, size);
    const bool reserved = word == "true" || word == "false" || word == "null" || word == "in";
    return {reserved ? Token::Kind::kPunctuation : Token::Kind::kIdentifier, size};
  }

  Match Escaped() const {
    const std::size_t end =
        While(1, [](char c) { return IsLetter(c) || IsDigit(c) || c == '.' || c == '-' || c == '/' || c == ' '; });
    if (end == 1 || At(end) != '`') return {Token::Kind::kEscapedIdentifier, 0, end + 1};
    return {Token::Kind::kEscapedIdentifier, end + 1};
  }

  Match Number() const {
    if (At(0) == '0' && At(1) == 'x' && IsHex(At(2))) {
      const std::size_t end = While(2, IsHex);
      return At(end) == 'u' || At(end) == 'U' ? Match{Token::Kind::kUint, end + 1} : Match{Token::Kind::kInt, end};
    }
    std::size_t end = While(0, IsDigit);
    if (At(end) == 'u' || At(end) == 'U') return {Token::Kind::kUint, end + 1};
    bool is_float = false;
    if (At(end) == '.' && IsDigit(At(end + 1))) {
      end = While(end + 1, IsDigit);
      is_float = true;
    }
    if (At(end) == 'e' || At(end) == 'E') {
      const std::size_t digits = end + (At(end + 1) == '+' || At(end + 1) == '-' ? 2 : 1);
      if (IsDigit(At(digits))) {
        end = While(digits, IsDigit);
        is_float = true;
      }
    }
    return {is_float ? Token::Kind::kFloat : Token::Kind::kInt, end};
  }

  // The size of an escape sequence after the backslash at `i`, or 0.
  std::size_t EscapeSize(std::size_t i) const {
    const char c = At(i + 1);
    const auto hex = [&](std::size_t count) {
      for (std::size_t k = 0; k < count; ++k)
        if (!IsHex(At(i + 2 + k))) return std::size_t{0};
      return count + 2;
    };
    if (c == 'x' || c == 'X') return hex(2);
    if (c == 'u') return hex(4);
    if (c == 'U') return hex(8);
    if (c >= '0' && c <= '3') return IsOctal(At(i + 2)) && IsOctal(At(i + 3)) ? 4 : 0;
    return c != '\0' && std::string_view("abfnrtv\"'\\?`").find(c) != std::string_view::npos ? 2 : 0;
  }

  Match String() const {
    std::size_t i = 0;
    Token::Kind kind = Token::Kind::kString;
    if (At(i) == 'b' || At(i) == 'B') {
      kind = Token::Kind::kBytes;
      ++i;
    }
    const bool raw = At(i) == 'r' || At(i) == 'R';
    if (raw) ++i;
    const std::string_view quote = text_.substr(i, 1);
    const std::string triple(3, quote[0]);
    if (text_.substr(i, 3) == triple) {
      for (std::size_t k = i + 3; k < text_.size();) {
        if (text_.substr(k, 3) == triple) return {kind, k + 3};
        const std::size_t step = text_[k] == '\\' && !raw ? EscapeSize(k) : 1;
        if (step == 0) break;
        k += step;
      }
      return {kind, i + 2};  // an empty string, followed by an open one
    }
    std::size_t k = i + 1;
    while (k < text_.size() && text_[k] != '\n' && text_[k] != '\r') {
      if (text_[k] == quote[0]) return {kind, k + 1};
      const std::size_t step = text_[k] == '\\' && !raw ? EscapeSize(k) : 1;
      if (step == 0) {
        ++k;
        break;
      }
      k += step;
    }
    // Without a string, its prefix is an identifier.
    return i > 0 ? Match{Token::Kind::kIdentifier, i} : Match{kind, 0, std::min(k + 1, text_.size())};
  }

  Match Punctuation() const {
    for (const std::string_view two : {"==", "!=", "<=", ">=", "&&", "||"}) {
      if (text_.substr(0, 2) == two) return {Token::Kind::kPunctuation, 2};
    }
    if (std::string_view("[]{}().,-!?:+*/%<>").find(text_[0]) != std::string_view::npos)
      return {Token::Kind::kPunctuation, 1};
    const bool half = text_[0] == '=' || text_[0] == '&' || text_[0] == '|';
    return {Token::Kind::kPunctuation, 0, half ? std::min<std::size_t>(2, text_.size()) : 1};
  }

  std::string_view text_;
};

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f'; }

std::string Shown(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (c == '\r') {
      out += "\\r";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::vector<Token> Tokenize(std::string_view source, Problems& problems) {
  std::vector<Token> out;
  std::int32_t position = 0;
  for (std::size_t at = 0; at < source.size();) {
    const auto advance = [&](std::size_t size) {
      position += static_cast<std::int32_t>(CodePoints(source.substr(at, size)));
      at += size;
    };
    if (IsSpace(source[at])) {
      advance(1);
      continue;
    }
    if (source.substr(at, 2) == "//") {
      advance(std::min(source.find('\n', at), source.size()) - at);
      continue;
    }
    Match match = Lexer(source.substr(at)).Next();
    if (match.size == 0) {
      // A code point is never cut in half.
      std::size_t end = at + std::max<std::size_t>(1, match.examined);
      while (end < source.size() && (static_cast<unsigned char>(source[end]) & 0xc0) == 0x80) ++end;
      problems.Add(position,
                   fmt::format("Syntax error: token recognition error at: '{}'", Shown(source.substr(at, end - at))));
      advance(end - at);
      continue;
    }
    out.push_back({match.kind, source.substr(at, match.size), position});
    advance(match.size);
  }
  out.push_back({Token::Kind::kEnd, "<EOF>", position});
  return out;
}

}  // namespace apimesh::cel
