#include "lib/codec/yaml_limits.h"

#include <algorithm>

namespace apimesh::codec {
namespace {

bool IsBreak(char c) { return c == '\n' || c == '\r'; }
bool IsSpace(char c) { return c == ' ' || c == '\t' || IsBreak(c); }
bool IsFlowIndicator(char c) { return c == '[' || c == ']' || c == '{' || c == '}' || c == ','; }

/// Follows a YAML text only as far as it takes to tell flow collections from text that looks like them: in quotes,
/// comments, plain scalars and block scalars. Where it is in doubt, it takes the text for a flow collection.
class FlowCounter {
 public:
  FlowCounter(std::string_view text, std::size_t max_depth, std::size_t max_tokens)
      : text_(text), max_depth_(max_depth), max_tokens_(max_tokens) {}

  std::string Run() {
    // The library would take a text with NULs for UTF-16 or UTF-32.
    if (text_.find('\0') != std::string_view::npos) return "yaml: control characters are not allowed";
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    while (at_ < text_.size() && problem_.empty()) Line();
    return std::move(problem_);
  }

 private:
  char Peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\n'; }
  std::size_t EndOfLine() const { return std::min(text_.find_first_of("\r\n", at_), text_.size()); }
  void SkipLine() { at_ = std::min(EndOfLine() + 1, text_.size()); }
  void SkipBlanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  /// One line of block context, with what begins on it and ends further down.
  void Line() {
    line_ = at_;
    if (text_.substr(at_).starts_with("---") && IsSpace(Peek(3))) at_ += 3;
    std::ptrdiff_t parent = -1;  // the column of the innermost "-", "?" or key
    for (;;) {
      SkipBlanks();
      if (at_ >= text_.size()) return;
      const char c = text_[at_];
      const auto column = static_cast<std::ptrdiff_t>(at_ - line_);
      if (IsBreak(c) || c == '#') return SkipLine();
      if ((c == '-' || c == '?' || c == ':') && IsSpace(Peek(1))) {
        if (c != ':') parent = column;
        ++at_;
      } else if (c == '[' || c == '{') {
        Flow();
        if (!problem_.empty()) return;
      } else if (c == '"' || c == '\'') {
        Quoted();
        SkipBlanks();
        if (Peek() == ':') parent = column;
      } else if ((c == '|' || c == '>') && parent >= 0) {
        return BlockScalar(parent);
      } else if (c == '&' || c == '!' || c == '*') {
        SkipProperty();
      } else if (Plain()) {
        parent = column;
      } else {
        return;
      }
    }
  }

  void SkipProperty() {
    ++at_;
    while (at_ < text_.size() && !IsSpace(text_[at_]) && !IsFlowIndicator(text_[at_])) ++at_;
  }

  /// A plain scalar of block context, to the end of the line. True if it is a key: then its value follows.
  bool Plain() {
    for (++at_; at_ < text_.size() && !IsBreak(text_[at_]); ++at_) {
      if (text_[at_] == ':' && IsSpace(Peek(1))) return true;
      if (text_[at_] == '#' && IsSpace(text_[at_ - 1])) break;
    }
    SkipLine();
    return false;
  }

  void Quoted() {
    const char quote = text_[at_++];
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\' && quote == '"') {
        ++at_;
      } else if (text_[at_] == quote) {
        if (quote == '"' || Peek(1) != '\'') break;
        ++at_;
      }
    }
    at_ = std::min(at_ + 1, text_.size());
  }

  /// Everything that is indented like the first line of the text, which must be indented by more than `parent`.
  void BlockScalar(std::ptrdiff_t parent) {
    std::size_t indent = 0;  // 0: not known yet
    std::size_t least = static_cast<std::size_t>(parent) + 1;
    for (++at_; at_ < text_.size() && !IsBreak(text_[at_]) && text_[at_] != '#'; ++at_) {
      if (text_[at_] >= '1' && text_[at_] <= '9') indent = static_cast<std::size_t>(parent) + static_cast<std::size_t>(text_[at_] - '0');
    }
    SkipLine();
    while (at_ < text_.size()) {
      const std::size_t content = std::min(text_.find_first_not_of(' ', at_), text_.size());
      const std::size_t spaces = content - at_;
      const bool blank = content == text_.size() || IsBreak(text_[content]);
      if (blank) {
        least = std::max(least, spaces);  // an empty line before the first one may be indented by more
      } else if (spaces < (indent != 0 ? indent : least)) {
        return;
      } else if (indent == 0) {
        indent = spaces;
      }
      SkipLine();
    }
  }

  /// A flow collection to its end, or to the end of the text.
  void Flow() {
    std::size_t depth = 0;
    bool in_scalar = false;
    tokens_ = 0;
    for (; at_ < text_.size() && problem_.empty(); ++at_) {
      const char c = text_[at_];
      if (c == '#' && at_ > 0 && IsSpace(text_[at_ - 1])) {
        at_ = EndOfLine();
        in_scalar = false;
      } else if (IsFlowIndicator(c) || (c == ':' && (IsSpace(Peek(1)) || IsFlowIndicator(Peek(1))))) {
        Count();
        in_scalar = false;
        if (c == '[' || c == '{') ++depth;
        if (depth > max_depth_) problem_ = "yaml: exceeded max depth";
        if ((c == ']' || c == '}') && --depth == 0) {
          ++at_;
          return;
        }
      } else if (IsSpace(c)) {
        if (IsBreak(c)) in_scalar = false;
      } else if (!in_scalar && (c == '"' || c == '\'')) {
        Count();
        Quoted();
        --at_;
      } else if (!in_scalar) {
        Count();
        in_scalar = c != '&' && c != '!' && c != '*';
        if (!in_scalar) SkipProperty(), --at_;
      }
    }
  }

  void Count() {
    if (++tokens_ > max_tokens_) problem_ = "yaml: flow collections have too many items";
  }

  const std::string_view text_;
  const std::size_t max_depth_, max_tokens_;
  std::size_t at_ = 0;
  std::size_t line_ = 0;
  std::size_t tokens_ = 0;  // of one flow collection
  std::string problem_;
};

}  // namespace

std::string FlowProblem(std::string_view text, std::size_t max_depth, std::size_t max_tokens) {
  return FlowCounter(text, max_depth, max_tokens).Run();
}

}  // namespace apimesh::codec
