// Plain, quoted and block scalars. A scalar on one line without escapes is a view of the text; others are assembled in
// the pool.
#include <algorithm>

#include "lib/base/text/utf8.h"
#include "lib/codec/yaml/yaml_characters.h"
#include "lib/codec/yaml/yaml_scanner.h"

namespace apimesh::codec {

/// Consumes a line break and appends its meaning: U+2028 and U+2029 are kept, all others become a line feed.
void YamlScanner::ReadBreak(std::string& breaks) {
  if (At() == '\xe2') {
    breaks.append(Here(), 3);
  } else {
    breaks += '\n';
  }
  SkipBreak();
}

/// Appends the breaks between two lines of a scalar. If `fold_one`, a single line feed becomes a space. Of several, the
/// first one is dropped.
void YamlScanner::AppendFolded(bool fold_one) {
  std::string& pool = Pool();
  if (!leading_break_.starts_with('\n')) {
    pool += leading_break_;
  } else if (trailing_breaks_.empty() && fold_one) {
    pool += ' ';
  }
  pool += trailing_breaks_;
  leading_break_.clear();
  trailing_breaks_.clear();
}

bool YamlScanner::FetchPlain() {
  if (!SaveSimpleKey()) return false;
  simple_key_allowed_ = false;
  YamlToken token{.type = TokenType::kScalar, .plain = true, .line = line_};
  const std::uint8_t stop = kYamlBlank | kYamlBreak | kYamlEnd | kYamlColon | (flow_level_ > 0 ? kYamlFlow : 0);
  std::size_t start = at_, end = at_;  // the part that is not yet in the pool
  std::size_t copy = 0;
  bool copied = false, new_line = false;
  for (;;) {
    if (at_ == line_start_ && IsYamlDocumentIndicator(Here())) break;
    if (At() == '#') break;
    const std::size_t word = at_;
    for (;; ++at_) {
      if (!(YamlClass(At()) & stop)) continue;
      if (At() == ':') {
        if (IsYamlSpaceOrEnd(Here() + 1)) break;
      } else if (!(YamlClass(At()) & kYamlBreak) || IsYamlBreak(Here())) {
        break;
      }
    }
    if (at_ > word) {
      if (new_line) {
        if (!copied) copy = Pool().size();
        copied = true;
        pool_.append(buffer_, start, end - start);
        AppendFolded(true);
        start = word;
        new_line = false;
      }
      end = at_;
    }
    if (!IsYamlBlank(At()) && !IsYamlBreak(Here())) break;
    for (;;) {
      if (IsYamlBlank(At())) {
        if (new_line && At() == '\t' && Column() < indent_ + 1)
          return Fail("found a tab character that violates indentation");
        ++at_;
      } else if (IsYamlBreak(Here())) {
        ReadBreak(new_line ? trailing_breaks_ : leading_break_);
        new_line = true;
      } else {
        break;
      }
    }
    if (flow_level_ == 0 && Column() < indent_ + 1) break;
  }
  leading_break_.clear();
  trailing_breaks_.clear();
  if (copied) {
    pool_.append(buffer_, start, end - start);
    token.value = std::string_view(pool_).substr(copy);
  } else {
    token.value = std::string_view(buffer_).substr(start, end - start);
  }
  if (new_line) simple_key_allowed_ = true;
  Push(token);
  return true;
}

bool YamlScanner::FetchQuoted() {
  if (!SaveSimpleKey()) return false;
  simple_key_allowed_ = false;
  YamlToken token{.type = TokenType::kScalar, .line = line_};
  const char quote = At();
  const std::size_t start = ++at_;
  // Most quoted scalars end on the same line and contain no escapes.
  const std::uint8_t stop = kYamlBreak | kYamlEnd | kYamlQuote;
  for (;; ++at_) {
    if (!(YamlClass(At()) & stop)) continue;
    if (At() == quote || IsYamlBreakOrEnd(Here())) break;
    if (At() == '\\' && quote == '"') break;
  }
  if (At() == quote && !(quote == '\'' && At(1) == '\'')) {
    token.value = std::string_view(buffer_).substr(start, at_ - start);
    ++at_;
  } else {
    at_ = start;
    if (!ScanQuotedSlowly(quote, token.value)) return false;
  }
  Push(token);
  return true;
}

bool YamlScanner::ScanQuotedSlowly(char quote, std::string_view& text) {
  const std::size_t copy = Pool().size();
  for (;;) {
    if (at_ == line_start_ && IsYamlDocumentIndicator(Here())) return Fail("found unexpected document indicator");
    if (at_ == end_) return Fail("found unexpected end of stream");
    bool joined = false;
    if (!ScanQuotedWord(quote, joined)) return false;
    if (At() == quote) break;
    const std::size_t blanks = at_;
    SkipBlanks();
    const std::size_t blanks_end = at_;
    bool new_line = joined;
    while (IsYamlBlank(At()) || IsYamlBreak(Here())) {
      if (IsYamlBlank(At())) {
        ++at_;
      } else {
        ReadBreak(new_line ? trailing_breaks_ : leading_break_);
        new_line = true;
      }
    }
    if (new_line) {
      AppendFolded(true);
    } else {
      pool_.append(buffer_, blanks, blanks_end - blanks);
    }
  }
  ++at_;
  text = std::string_view(pool_).substr(copy);
  return true;
}

/// Reads up to the next space, line break or closing quote. `joined` is set if a backslash at the end of the line
/// removes the line break.
bool YamlScanner::ScanQuotedWord(char quote, bool& joined) {
  const std::uint8_t stop = kYamlBlank | kYamlBreak | kYamlEnd | kYamlQuote;
  for (;;) {
    const std::size_t run = at_;
    while (!(YamlClass(At()) & stop)) ++at_;
    pool_.append(buffer_, run, at_ - run);
    if (IsYamlSpaceOrEnd(Here())) return true;
    if (At() == quote) {
      if (quote == '"' || At(1) != '\'') return true;
      pool_ += '\'';
      at_ += 2;
    } else if (quote == '"' && At() == '\\') {
      if (IsYamlBreak(Here() + 1)) {
        ++at_;
        SkipBreak();
        joined = true;
        return true;
      }
      if (!ScanEscape()) return false;
    } else {
      pool_ += At();
      ++at_;
    }
  }
}

bool YamlScanner::ScanEscape() {
  std::size_t digits = 0;
  switch (At(1)) {
    case '0': pool_ += '\0'; break;
    case 'a': pool_ += '\a'; break;
    case 'b': pool_ += '\b'; break;
    case 't':
    case '\t': pool_ += '\t'; break;
    case 'n': pool_ += '\n'; break;
    case 'v': pool_ += '\v'; break;
    case 'f': pool_ += '\f'; break;
    case 'r': pool_ += '\r'; break;
    case 'e': pool_ += '\x1b'; break;
    case ' ':
    case '"':
    case '\'':
    case '\\': pool_ += At(1); break;
    case 'N': AppendUtf8(pool_, 0x85); break;
    case '_': AppendUtf8(pool_, 0xa0); break;
    case 'L': AppendUtf8(pool_, 0x2028); break;
    case 'P': AppendUtf8(pool_, 0x2029); break;
    case 'x': digits = 2; break;
    case 'u': digits = 4; break;
    case 'U': digits = 8; break;
    default: return Fail("found unknown escape character");
  }
  at_ += 2;
  if (digits == 0) return true;
  std::uint64_t rune = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    const char c = At(i);  // a byte that is not a digit ends the loop before the end of the buffer
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return Fail("did not find expected hexdecimal number");
    rune = rune << 4 | static_cast<std::uint64_t>(digit);
  }
  if ((rune >= 0xd800 && rune <= 0xdfff) || rune > 0x10ffff) return Fail("found invalid Unicode character escape code");
  AppendUtf8(pool_, static_cast<std::uint32_t>(rune));
  at_ += digits;
  return true;
}

bool YamlScanner::FetchBlockScalar() {
  if (!RemoveSimpleKey()) return false;
  simple_key_allowed_ = true;
  YamlToken token{.type = TokenType::kScalar, .line = line_};
  const bool literal = At() == '|';
  int chomping = 0;
  std::ptrdiff_t indent = 0;
  if (!ScanBlockHeader(chomping, indent)) return false;
  if (indent > 0 && indent_ >= 0) indent += indent_;
  if (!ScanBlockBreaks(indent)) return false;
  const std::size_t copy = Pool().size();
  bool after_indented = false;  // the previous line begins with a space, so the break after it is kept
  while (at_ < end_ && Column() == indent) {
    const bool indented = IsYamlBlank(At());
    if (!literal && !after_indented && !indented) {
      AppendFolded(true);
    } else {
      pool_ += leading_break_;
      pool_ += trailing_breaks_;
      leading_break_.clear();
      trailing_breaks_.clear();
    }
    after_indented = indented;
    const std::size_t run = at_;
    while (!(YamlClass(At()) & (kYamlBreak | kYamlEnd)) || !IsYamlBreakOrEnd(Here())) ++at_;
    pool_.append(buffer_, run, at_ - run);
    if (at_ < end_) ReadBreak(leading_break_);
    if (!ScanBlockBreaks(indent)) return false;
  }
  if (chomping != -1) pool_ += leading_break_;
  if (chomping == 1) pool_ += trailing_breaks_;
  leading_break_.clear();
  trailing_breaks_.clear();
  token.value = std::string_view(pool_).substr(copy);
  Push(token);
  return true;
}

/// Reads "|" or ">" and the indicators after it in either order: "+" or "-", and a digit for the indentation.
bool YamlScanner::ScanBlockHeader(int& chomping, std::ptrdiff_t& increment) {
  ++at_;
  const auto chomp = [this, &chomping] {
    if (At() != '+' && At() != '-') return false;
    chomping = At() == '+' ? 1 : -1;
    ++at_;
    return true;
  };
  const bool first = chomp();
  if (At() >= '0' && At() <= '9') {
    if (At() == '0') return Fail("found an indentation indicator equal to 0");
    increment = At() - '0';
    ++at_;
    if (!first) chomp();
  }
  SkipBlanks();
  SkipComment();
  if (!IsYamlBreakOrEnd(Here())) return Fail("did not find expected comment or line break");
  if (at_ < end_) SkipBreak();
  return true;
}

/// Consumes the indentation and empty lines. `indent` is 0 until the first non-empty line determines it.
bool YamlScanner::ScanBlockBreaks(std::ptrdiff_t& indent) {
  std::ptrdiff_t most = 0;
  for (;;) {
    std::ptrdiff_t column = Column();
    for (; At() == ' ' && (indent == 0 || column < indent); ++column) ++at_;
    most = std::max(most, column);
    if (At() == '\t' && (indent == 0 || column < indent)) {
      return Fail("found a tab character where an indentation space is expected");
    }
    if (!IsYamlBreak(Here())) break;
    ReadBreak(trailing_breaks_);
  }
  if (indent == 0) indent = std::max<std::ptrdiff_t>({most, indent_ + 1, 1});
  return true;
}

}  // namespace apimesh::codec
