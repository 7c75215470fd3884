#pragma once

#include <string>
#include <string_view>

#include "lib/codec/json/json_parts.h"

namespace apimesh::codec {

/// Walks through a JSON text without building a document. The text must have been validated before, because the syntax
/// of skipped parts is not checked. Every function returns false if the text is not what it expects; the position is
/// then undefined.
class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : text_(text) {}

  std::string_view Text() const { return text_; }
  std::size_t Position() const { return position_; }
  std::string_view Since(std::size_t begin) const { return text_.substr(begin, position_ - begin); }

  void SkipSpace() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\n' ||
                                        text_[position_] == '\t' || text_[position_] == '\r')) {
      ++position_;
    }
  }
  /// Skips white space and returns the next character; '\0' at the end.
  char Peek() {
    SkipSpace();
    return position_ < text_.size() ? text_[position_] : '\0';
  }

  /// Reads a string; `raw` is the text between the quotes (see UnescapeJson()).
  bool String(std::string_view& raw) {
    if (Peek() != '"') return false;
    const std::size_t begin = position_ + 1;
    if (!MoveTo(SkipJsonString(text_, position_))) return false;
    raw = text_.substr(begin, position_ - 1 - begin);
    return true;
  }

  bool SkipValue() {
    SkipSpace();
    return MoveTo(SkipJsonValue(text_, position_));
  }

  /// Reads an object. Calls `on_field(key, key_begin)` for each field, with the raw key and the position of its quote;
  /// `on_field` must read or skip the value, which begins at the position. If it returns false, so does Object().
  template <class OnField>
  bool Object(OnField on_field) {
    if (Peek() != '{') return false;
    ++position_;
    if (Peek() == '}') return ++position_, true;
    for (;;) {
      SkipSpace();
      const std::size_t key_begin = position_;
      std::string_view key;
      if (!String(key) || Peek() != ':') return false;
      ++position_;
      SkipSpace();
      if (!on_field(key, key_begin)) return false;
      const char next = Peek();
      ++position_;
      if (next == '}') return true;
      if (next != ',') return false;
    }
  }

 private:
  bool MoveTo(std::size_t position) {
    if (position == std::string_view::npos) return false;
    position_ = position;
    return true;
  }

  const std::string_view text_;
  std::size_t position_ = 0;
};

/// Replaces the escapes in the text of a JSON string.
std::string UnescapeJson(std::string_view raw);

}  // namespace apimesh::codec
