#include "lib/codec/yaml/yaml_scanner.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "lib/base/text/utf8.h"
#include "lib/base/wipe.h"
#include "lib/codec/yaml/yaml_characters.h"

namespace apimesh::codec {
namespace {

constexpr std::size_t kPadding = 4;
constexpr std::size_t kLongestSimpleKey = 1024;
constexpr std::size_t kAppend = static_cast<std::size_t>(-1);

bool IsContinuation(char c) { return (c & 0xc0) == 0x80; }

}  // namespace

YamlScanner::YamlScanner(std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  FindProblem(text);
  buffer_.reserve(end_ + kPadding);
  buffer_.append(text.substr(0, end_));
  buffer_.append(kPadding, '\0');
}

YamlScanner::~YamlScanner() {
  Wipe(buffer_);
  Wipe(pool_);
}

/// Finds the first invalid byte. yaml.v2 checks the encoding while it reads, so errors before that byte are reported
/// first.
void YamlScanner::FindProblem(std::string_view text) {
  for (end_ = 0; end_ < text.size();) {
    const auto c = static_cast<unsigned char>(text[end_]);
    if (c >= 0x20 && c < 0x7f) {
      ++end_;
      continue;
    }
    if (c < 0x80) {
      if (c != '\n' && c != '\t' && c != '\r') {
        bad_bytes_ = "yaml: control characters are not allowed";
        return;
      }
      ++end_;
      continue;
    }
    ascii_ = false;
    const std::size_t length = Utf8Length(text, end_);
    if (length == 0) {
      const bool leads = (c & 0xe0) == 0xc0 || (c & 0xf0) == 0xe0 || (c & 0xf8) == 0xf0;
      const std::size_t width = (c & 0xe0) == 0xc0 ? 2 : (c & 0xf0) == 0xe0 ? 3 : 4;
      const std::string_view rest = text.substr(end_ + 1, width - 1);
      const bool continues = std::all_of(rest.begin(), rest.end(), IsContinuation);
      const bool surrogate = c == 0xed || c >= 0xf4;
      bad_bytes_ = !leads                    ? "yaml: invalid leading UTF-8 octet"
                   : rest.size() + 1 < width ? "yaml: incomplete UTF-8 octet sequence"
                   : !continues              ? "yaml: invalid trailing UTF-8 octet"
                   : surrogate               ? "yaml: invalid Unicode character"
                                             : "yaml: invalid length of a UTF-8 sequence";
      return;
    }
    const std::string_view character = text.substr(end_, length);
    const bool c1 = c == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0 && character[1] != '\x85';
    if (c1 || character == "\xef\xbf\xbe" || character == "\xef\xbf\xbf") {
      bad_bytes_ = "yaml: control characters are not allowed";
      return;
    }
    end_ += length;
  }
}

bool YamlScanner::Fail(std::string_view problem) {
  if (!problem_.empty()) return false;
  if (!bad_bytes_.empty() && at_ + kPadding > end_) {
    problem_ = bad_bytes_;
  } else {
    problem_ = line_ == 0 ? fmt::format("yaml: {}", problem) : fmt::format("yaml: line {}: {}", line_ + 1, problem);
  }
  return false;
}

std::string& YamlScanner::Pool() {
  // No escape expands to more than one and a half times its written length.
  const std::size_t most = end_ + end_ / 2 + kPadding;
  if (pool_.capacity() < most) pool_.reserve(most);
  return pool_;
}

void YamlScanner::CountCharacters() {
  if (!ascii_)
    continued_ +=
        static_cast<std::size_t>(std::count_if(buffer_.begin() + static_cast<std::ptrdiff_t>(counted_),
                                               buffer_.begin() + static_cast<std::ptrdiff_t>(at_), IsContinuation));
  counted_ = at_;
}

std::ptrdiff_t YamlScanner::Column() {
  CountCharacters();
  return static_cast<std::ptrdiff_t>(at_ - line_start_ - (continued_ - continued_before_line_));
}

std::size_t YamlScanner::Index() {
  CountCharacters();
  return at_ - continued_;
}

void YamlScanner::BeginLine() {
  CountCharacters();
  ++line_;
  line_start_ = at_;
  continued_before_line_ = continued_;
}

void YamlScanner::SkipBlanks() {
  while (IsYamlBlank(At())) ++at_;
}

void YamlScanner::SkipComment() {
  if (At() != '#') return;
  while (!IsYamlBreakOrEnd(Here())) ++at_;
}

void YamlScanner::SkipBreak() {
  at_ += At() == '\r' && At(1) == '\n' ? 2 : At() == '\xc2' ? 2 : At() == '\xe2' ? 3 : 1;
  BeginLine();
}

void YamlScanner::SkipToNextToken() {
  for (;;) {
    while (At() == ' ' || (At() == '\t' && (flow_level_ > 0 || !simple_key_allowed_))) ++at_;
    SkipComment();
    if (!IsYamlBreak(Here())) return;
    SkipBreak();
    if (flow_level_ == 0) simple_key_allowed_ = true;
  }
}

bool YamlScanner::FetchMore() {
  for (;;) {
    if (head_ < tokens_.size()) {
      const std::uint32_t level = tokens_[head_].key_level;
      if (level == 0 || level > simple_keys_.size()) break;
      SimpleKey& key = simple_keys_[level - 1];
      if (key.token != parsed_) break;
      bool valid = false;
      if (!IsValid(key, valid)) return false;
      if (!valid) break;
    } else {
      tokens_.clear();
      head_ = 0;
    }
    if (!problem_.empty() || !FetchNext()) return false;
  }
  available_ = true;
  return true;
}

bool YamlScanner::IsValid(SimpleKey& key, bool& valid) {
  valid = key.possible;
  if (!valid || (key.line == line_ && key.index + kLongestSimpleKey >= Index())) return true;
  if (key.required) return Fail("could not find expected ':'");
  key.possible = valid = false;
  return true;
}

bool YamlScanner::SaveSimpleKey() {
  if (!simple_key_allowed_) return true;
  if (!RemoveSimpleKey()) return false;
  const std::ptrdiff_t column = Column();
  const bool required = flow_level_ == 0 && indent_ == column;
  simple_keys_.back() = {true, required, parsed_ + tokens_.size() - head_, Index(), line_, column};
  next_key_level_ = static_cast<std::uint32_t>(simple_keys_.size());
  return true;
}

bool YamlScanner::RemoveSimpleKey() {
  SimpleKey& key = simple_keys_.back();
  if (key.possible && key.required) return Fail("could not find expected ':'");
  key.possible = false;
  return true;
}

void YamlScanner::Push(YamlToken token) {
  token.key_level = std::exchange(next_key_level_, 0);
  tokens_.push_back(token);
}

void YamlScanner::PushIndicator(TokenType type, std::size_t length) {
  Push({.type = type, .line = line_});
  at_ += length;
}

void YamlScanner::RollIndent(std::ptrdiff_t column, std::size_t number, TokenType type, std::uint32_t line) {
  if (flow_level_ > 0 || indent_ >= column) return;
  indents_.push_back(indent_);
  indent_ = column;
  const YamlToken token{.type = type, .line = line};
  if (number == kAppend) {
    tokens_.push_back(token);
  } else {
    tokens_.insert(tokens_.begin() + static_cast<std::ptrdiff_t>(head_ + number - parsed_), token);
  }
}

void YamlScanner::UnrollIndent(std::ptrdiff_t column) {
  if (flow_level_ > 0) return;
  while (indent_ > column) {
    tokens_.push_back({.type = TokenType::kBlockEnd, .line = line_});
    indent_ = indents_.back();
    indents_.pop_back();
  }
}

bool YamlScanner::FetchNext() {
  SkipToNextToken();
  const std::ptrdiff_t column = Column();
  UnrollIndent(column);
  if (at_ == end_) return FetchStreamEnd();
  return FetchAt(column);
}

bool YamlScanner::FetchAt(std::ptrdiff_t column) {
  if (column == 0 && At() == '%') return FetchDirective();
  if (column == 0 && IsYamlDocumentIndicator(Here())) {
    return FetchDocumentIndicator(At() == '-' ? TokenType::kDocumentStart : TokenType::kDocumentEnd);
  }
  const bool in_flow = flow_level_ > 0;
  switch (At()) {
    case '[': return FetchFlowStart(TokenType::kFlowSequenceStart);
    case '{': return FetchFlowStart(TokenType::kFlowMappingStart);
    case ']': return FetchFlowEnd(TokenType::kFlowSequenceEnd);
    case '}': return FetchFlowEnd(TokenType::kFlowMappingEnd);
    case ',': return FetchFlowEntry();
    case '-': return IsYamlSpaceOrEnd(Here() + 1) ? FetchBlockEntry(column) : FetchPlain();
    case '?': return in_flow || IsYamlSpaceOrEnd(Here() + 1) ? FetchKey(column) : FetchPlain();
    case ':': return in_flow || IsYamlSpaceOrEnd(Here() + 1) ? FetchValue(column) : FetchPlain();
    case '*': return FetchAnchor(TokenType::kAlias);
    case '&': return FetchAnchor(TokenType::kAnchor);
    case '!': return FetchTag();
    case '\'':
    case '"': return FetchQuoted();
    case '|':
    case '>':
      if (!in_flow) return FetchBlockScalar();
      break;
    case '\t':
    case '%':
    case '@':
    case '`': break;
    default: return FetchPlain();
  }
  return Fail("found character that cannot start any token");
}

bool YamlScanner::FetchStreamEnd() {
  if (!bad_bytes_.empty()) return Fail("");
  if (Column() != 0) BeginLine();
  UnrollIndent(-1);
  if (!RemoveSimpleKey()) return false;
  simple_key_allowed_ = false;
  PushIndicator(TokenType::kStreamEnd, 0);
  return true;
}

bool YamlScanner::FetchDocumentIndicator(TokenType type) {
  UnrollIndent(-1);
  if (!RemoveSimpleKey()) return false;
  simple_key_allowed_ = false;
  PushIndicator(type, 3);
  return true;
}

bool YamlScanner::FetchFlowStart(TokenType type) {
  if (!SaveSimpleKey()) return false;
  PushIndicator(type, 1);
  simple_keys_.emplace_back();
  ++flow_level_;
  simple_key_allowed_ = true;
  return true;
}

bool YamlScanner::FetchFlowEnd(TokenType type) {
  if (!RemoveSimpleKey()) return false;
  if (flow_level_ > 0) {
    --flow_level_;
    simple_keys_.pop_back();
  }
  simple_key_allowed_ = false;
  PushIndicator(type, 1);
  return true;
}

bool YamlScanner::FetchFlowEntry() {
  if (!RemoveSimpleKey()) return false;
  simple_key_allowed_ = true;
  PushIndicator(TokenType::kFlowEntry, 1);
  return true;
}

bool YamlScanner::FetchBlockEntry(std::ptrdiff_t column) {
  if (flow_level_ == 0) {
    if (!simple_key_allowed_) return Fail("block sequence entries are not allowed in this context");
    RollIndent(column, kAppend, TokenType::kBlockSequenceStart, line_);
  }
  if (!RemoveSimpleKey()) return false;
  simple_key_allowed_ = true;
  PushIndicator(TokenType::kBlockEntry, 1);
  return true;
}

bool YamlScanner::FetchKey(std::ptrdiff_t column) {
  if (flow_level_ == 0) {
    if (!simple_key_allowed_) return Fail("mapping keys are not allowed in this context");
    RollIndent(column, kAppend, TokenType::kBlockMappingStart, line_);
  }
  if (!RemoveSimpleKey()) return false;
  simple_key_allowed_ = flow_level_ == 0;
  PushIndicator(TokenType::kKey, 1);
  return true;
}

bool YamlScanner::FetchValue(std::ptrdiff_t column) {
  SimpleKey& key = simple_keys_.back();
  bool valid = false;
  if (!IsValid(key, valid)) return false;
  if (valid) {
    // The tokens since then are now known to be a key.
    tokens_.insert(tokens_.begin() + static_cast<std::ptrdiff_t>(head_ + key.token - parsed_),
                   {.type = TokenType::kKey, .line = key.line});
    RollIndent(key.column, key.token, TokenType::kBlockMappingStart, key.line);
    key.possible = false;
    simple_key_allowed_ = false;
  } else {
    if (flow_level_ == 0) {
      if (!simple_key_allowed_) return Fail("mapping values are not allowed in this context");
      RollIndent(column, kAppend, TokenType::kBlockMappingStart, line_);
    }
    simple_key_allowed_ = flow_level_ == 0;
  }
  PushIndicator(TokenType::kValue, 1);
  return true;
}

}  // namespace apimesh::codec
