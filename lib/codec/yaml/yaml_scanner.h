#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "lib/codec/yaml/yaml_token.h"

namespace apimesh::codec {

/// Splits a YAML 1.1 text into tokens, with the rules and error messages of Go's yaml.v2 (which are those of libyaml).
/// The cost is linear in the size of the text: each byte is read a bounded number of times, and a token that may be the
/// start of a key is held back for at most 1024 characters.
class YamlScanner {
 public:
  explicit YamlScanner(std::string_view text);
  /// Overwrites the copies of the text, which may contain keys.
  ~YamlScanner();
  YamlScanner(const YamlScanner&) = delete;

  /// Returns the next token, which is valid until the next call. Returns nullptr if the text is invalid; Problem() then
  /// returns the message.
  const YamlToken* Peek() {
    if (!available_ && !FetchMore()) return nullptr;
    return &tokens_[head_];
  }
  void Skip() {
    available_ = false;
    ++parsed_;
    ++head_;
  }
  /// Returns an error such as "yaml: line 3: found unexpected end of stream", or "".
  const std::string& Problem() const { return problem_; }

 private:
  /// A possible start of a key without a leading "?". There is one per flow level.
  struct SimpleKey {
    bool possible = false;
    bool required = false;  // the token must be a key
    std::size_t token = 0;  // its number in the text
    std::size_t index = 0;  // the index of its first character
    std::uint32_t line = 0;
    std::ptrdiff_t column = 0;
  };

  // yaml_scanner.cc
  bool FetchMore();
  bool FetchNext();
  bool FetchAt(std::ptrdiff_t column);
  void SkipToNextToken();
  bool IsValid(SimpleKey& key, bool& valid);
  bool SaveSimpleKey();
  bool RemoveSimpleKey();
  void RollIndent(std::ptrdiff_t column, std::size_t number, TokenType type, std::uint32_t line);
  void UnrollIndent(std::ptrdiff_t column);
  bool FetchStreamEnd();
  bool FetchDocumentIndicator(TokenType type);
  bool FetchFlowStart(TokenType type);
  bool FetchFlowEnd(TokenType type);
  bool FetchFlowEntry();
  bool FetchBlockEntry(std::ptrdiff_t column);
  bool FetchKey(std::ptrdiff_t column);
  bool FetchValue(std::ptrdiff_t column);
  void Push(YamlToken token);
  void PushIndicator(TokenType type, std::size_t length);

  // yaml_scan_tag.cc
  bool FetchDirective();
  bool FetchAnchor(TokenType type);
  bool FetchTag();
  bool ScanVersion(YamlToken& token);
  bool ScanVersionNumber(int& number);
  bool ScanTagDirective(YamlToken& token);
  bool ScanTagHandle(bool directive, std::string_view& handle);
  bool ScanTagUri(std::string_view head, std::string_view& uri);
  bool ScanUriEscape();

  // yaml_scan_scalar.cc
  bool FetchPlain();
  bool FetchQuoted();
  bool FetchBlockScalar();
  bool ScanBlockHeader(int& chomping, std::ptrdiff_t& increment);
  bool ScanBlockBreaks(std::ptrdiff_t& indent);
  bool ScanQuotedSlowly(char quote, std::string_view& text);
  bool ScanQuotedWord(char quote, bool& joined);
  bool ScanEscape();
  void ReadBreak(std::string& breaks);
  void AppendFolded(bool fold_one);

  void FindProblem(std::string_view text);
  char At(std::size_t ahead = 0) const { return buffer_[at_ + ahead]; }
  const char* Here() const { return buffer_.data() + at_; }
  void SkipBlanks();
  void SkipComment();
  void SkipBreak();
  void BeginLine();
  void CountCharacters();
  std::ptrdiff_t Column();
  std::size_t Index();
  /// Returns the memory for texts that are not a contiguous part of the input. Its capacity is sufficient for all of
  /// them, so it is never reallocated.
  std::string& Pool();
  bool Fail(std::string_view problem);

  std::string buffer_;     // the text followed by NULs, which a valid text does not contain
  std::size_t end_ = 0;    // the end of the text, or the position of the first invalid byte
  std::string bad_bytes_;  // the error at end_; empty if the complete text is valid
  bool ascii_ = true;
  std::size_t at_ = 0;
  std::uint32_t line_ = 0;
  // Columns count characters. Continuation bytes have been counted up to the position counted_.
  std::size_t line_start_ = 0, counted_ = 0, continued_ = 0, continued_before_line_ = 0;

  std::vector<YamlToken> tokens_;
  std::size_t head_ = 0, parsed_ = 0;
  bool available_ = false;
  std::uint32_t next_key_level_ = 0;

  std::ptrdiff_t indent_ = -1;
  std::vector<std::ptrdiff_t> indents_;
  std::size_t flow_level_ = 0;
  std::vector<SimpleKey> simple_keys_{1};
  bool simple_key_allowed_ = true;

  std::string pool_, leading_break_, trailing_breaks_;
  std::string problem_;
};

}  // namespace apimesh::codec
