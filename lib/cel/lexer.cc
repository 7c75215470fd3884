#include "lib/cel/lexer.h"

#include <charconv>

namespace apimesh::cel {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

void AppendUtf8(std::string& out, std::uint32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
  } else if (c < 0x800) {
    out += static_cast<char>(0xC0 | c >> 6);
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    out += static_cast<char>(0xE0 | c >> 12);
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | c >> 18);
    out += static_cast<char>(0x80 | (c >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (c >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
}

class Lexer {
 public:
  Lexer(std::string_view source, std::optional<Problem>& problem) : source_(source), problem_(problem) {}

  std::vector<Token> Run() {
    std::vector<Token> tokens;
    for (SkipSpace(); at_ < source_.size() && !problem_; SkipSpace()) tokens.push_back(Next());
    tokens.push_back({Token::Kind::kEnd, "", {}, source_.size()});
    return tokens;
  }

 private:
  char Peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }
  std::string_view Rest() const { return source_.substr(at_); }
  void Fail(std::string text) {
    if (!problem_) problem_ = Problem{at_, "Syntax error: " + std::move(text)};
  }

  void SkipSpace() {
    while (at_ < source_.size()) {
      if (std::string_view(" \t\r\n\f").find(Peek()) != std::string_view::npos && Peek() != '\0') {
        ++at_;
      } else if (Rest().starts_with("//")) {
        while (at_ < source_.size() && Peek() != '\n') ++at_;
      } else {
        return;
      }
    }
  }

  Token Next() {
    Token token{Token::Kind::kPunctuation, "", {}, at_};
    if (const std::size_t prefix = StringPrefix(); prefix != std::string_view::npos) {
      token.kind = Token::Kind::kLiteral;
      token.literal = String(prefix);
    } else if (IsLetter(Peek())) {
      Word(token);
    } else if (IsDigit(Peek()) || (Peek() == '.' && IsDigit(Peek(1)))) {
      token.kind = Token::Kind::kLiteral;
      token.literal = Number();
    } else if (Peek() == '`') {
      QuotedIdentifier(token);
    } else {
      for (const std::string_view op : {"&&", "||", "==", "!=", "<=", ">=", ".?", "[?"}) {
        if (Rest().starts_with(op)) token.text = op;
      }
      if (token.text.empty() && std::string_view("+-*/%<>!?:.,()[]{}").find(Peek()) != std::string_view::npos)
        token.text = Peek();
      if (token.text.empty()) Fail(fmt::format("token recognition error at: '{}'", Rest().substr(0, 1)));
      at_ += token.text.size();
    }
    return token;
  }

  void Word(Token& token) {
    const std::size_t begin = at_;
    while (IsLetter(Peek()) || IsDigit(Peek())) ++at_;
    token.text = source_.substr(begin, at_ - begin);
    token.kind = Token::Kind::kIdentifier;
    if (token.text == "true" || token.text == "false") token.literal = Value::Bool(token.text == "true");
    if (token.text == "true" || token.text == "false" || token.text == "null") token.kind = Token::Kind::kLiteral;
    if (token.text == "in") token.kind = Token::Kind::kPunctuation;
  }

  void QuotedIdentifier(Token& token) {
    const std::size_t end = source_.find('`', at_ + 1);
    if (end == source_.npos) return Fail("token recognition error at: '`'");
    token.kind = Token::Kind::kIdentifier;
    token.text = source_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
  }

  Value Number() {
    const std::size_t begin = at_;
    const bool hex = Peek() == '0' && (Peek(1) == 'x' || Peek(1) == 'X');
    bool real = false;
    if (hex) at_ += 2;
    while (hex ? IsHex(Peek()) : IsDigit(Peek())) ++at_;
    if (!hex && Peek() == '.' && IsDigit(Peek(1))) {
      real = true;
      for (++at_; IsDigit(Peek());) ++at_;
    }
    if (!hex && (Peek() == 'e' || Peek() == 'E')) {
      const std::size_t sign = Peek(1) == '+' || Peek(1) == '-' ? 1 : 0;
      if (IsDigit(Peek(1 + sign))) {
        real = true;
        for (at_ += 1 + sign; IsDigit(Peek());) ++at_;
      }
    }
    const std::string text(source_.substr(begin, at_ - begin));
    if (real) return Value::Double(std::strtod(text.c_str(), nullptr));
    std::uint64_t number = 0;
    const char* first = text.data() + (hex ? 2 : 0);
    const auto [end, error] = std::from_chars(first, text.data() + text.size(), number, hex ? 16 : 10);
    const bool is_unsigned = Peek() == 'u' || Peek() == 'U';
    if (is_unsigned) ++at_;
    if (error != std::errc() || first == text.data() + text.size()) {
      Fail(is_unsigned ? "invalid uint literal" : "invalid int literal");
      return Value();
    }
    if (is_unsigned) return Value::Uint(number);
    // One more than the largest int is kept as uint: a minus sign in front makes it the smallest.
    if (number > 0x8000000000000000u) Fail("invalid int literal");
    return number == 0x8000000000000000u ? Value::Uint(number) : Value::Int(static_cast<std::int64_t>(number));
  }

  // The length of "r", "b", "rb" … before a quote; npos: no string begins here.
  std::size_t StringPrefix() const {
    std::size_t size = 0;
    while (size < 2 && std::string_view("rRbB").find(Peek(size)) != std::string_view::npos && Peek(size) != '\0')
      ++size;
    return Peek(size) == '"' || Peek(size) == '\'' ? size : std::string_view::npos;
  }

  Value String(std::size_t prefix) {
    const std::string_view letters = source_.substr(at_, prefix);
    const bool raw = letters.find_first_of("rR") != letters.npos, bytes = letters.find_first_of("bB") != letters.npos;
    at_ += prefix;
    const std::string quote(Rest().starts_with("\"\"\"") || Rest().starts_with("'''") ? 3 : 1, Peek());
    at_ += quote.size();
    std::string out;
    while (!problem_) {
      if (at_ >= source_.size() || (quote.size() == 1 && (Peek() == '\n' || Peek() == '\r'))) {
        Fail("token recognition error: the string has no end");
        break;
      }
      if (Rest().starts_with(quote)) {
        at_ += quote.size();
        break;
      }
      if (Peek() == '\\' && !raw) {
        Escape(out, bytes);
      } else {
        out += source_[at_++];
      }
    }
    return bytes ? Value::Bytes(std::move(out)) : Value::String(std::move(out));
  }

  void Escape(std::string& out, bool bytes) {
    constexpr std::string_view kNames = "abfnrtv\\\"'`?", kMeanings = "\a\b\f\n\r\t\v\\\"'`?";
    const char c = Peek(1);
    at_ += 2;
    if (const std::size_t found = kNames.find(c); found != kNames.npos && c != '\0') {
      out += kMeanings[found];
      return;
    }
    const auto [digits, base] = c == 'x' || c == 'X' ? std::pair(2, 16)
                                : c == 'u'           ? std::pair(4, 16)
                                : c == 'U'           ? std::pair(8, 16)
                                                     : std::pair(3, 8);
    if (base == 8) --at_;
    std::uint32_t code = 0;
    const std::string text(source_.substr(std::min(at_, source_.size()), digits));
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), code, base);
    if (error != std::errc() || end != text.data() + digits || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000))
      return Fail("invalid escape sequence");
    at_ += digits;
    if (bytes && digits < 4) {
      if (code > 255) return Fail("invalid escape sequence");
      out += static_cast<char>(code);
    } else {
      AppendUtf8(out, code);
    }
  }

  const std::string_view source_;
  std::optional<Problem>& problem_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Token> Tokenize(std::string_view source, std::optional<Problem>& problem) {
  return Lexer(source, problem).Run();
}

std::string FormatProblem(std::string_view source, const Problem& problem) {
  const std::size_t at = std::min(problem.position, source.size());
  const std::string_view before = source.substr(0, at);
  const std::size_t line = static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::size_t begin = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
  const std::size_t column = CodePoints(source.substr(begin, at - begin));
  const std::string_view text = source.substr(begin, source.find('\n', begin) - begin);
  return fmt::format("ERROR: <input>:{}:{}: {}\n | {}\n | {}^", line, column + 1, problem.text, text,
                     std::string(column, '.'));
}

}  // namespace apimesh::cel
