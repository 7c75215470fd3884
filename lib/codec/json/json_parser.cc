#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <deque>

#include <boost/json/value_stack.hpp>
#include <fmt/format.h>

#include "lib/base/async/interrupt.h"
#include "lib/base/text/utf8.h"
#include "lib/codec/codec.h"
#include "lib/codec/json/json_parts.h"
#include "lib/codec/json/quote_byte.h"
#include "lib/codec/key_set.h"
#include "lib/codec/strict_path.h"

namespace apimesh::codec {
namespace {

using meta::json::value_stack;

/// Parses JSON in one pass, with an explicit stack instead of recursion and with Go's error messages.
class JsonParser {
 public:
  JsonParser(std::string_view text, Strictness* strict, const ParseLimits& limits,
             const meta::FieldMask* wanted = nullptr)
      : text_(text), strict_(strict), limits_(limits), wanted_(wanted) {}

  meta::Result<meta::json::value> Parse(meta::json::storage_ptr arena) {
    if (text_.size() > limits_.bytes) {
      return meta::RequestEntityTooLarge(fmt::format("limit is {}", limits_.bytes));
    }
    stack_.reset(std::move(arena));
    if (!Run()) return meta::BadRequest(error_);
    return stack_.release();
  }

 private:
  struct Frame {
    bool is_object;
    const meta::FieldMask* wanted;  // the wanted fields of its content; nullptr: everything
    std::size_t count = 0;
    std::size_t index = 0;  // arrays: the index of the current element
    // Strict mode only.
    KeySet keys{0};
    std::size_t duplicates = 0;
  };

  bool Run() {
    for (;;) {
      bool opened = false;
      if (!Value(opened)) return false;
      if (opened) continue;
      // After a value, close all collections that end here until another value begins.
      for (;;) {
        SkipSpace();
        if (frames_.empty()) return at_ == text_.size() || Fail("after top-level value");
        if (at_ == text_.size()) return End();
        Frame& frame = frames_.back();
        const char c = text_[at_];
        if (frame.is_object) {
          if (c == '}') {
            CloseFrame();
            continue;
          }
          if (c != ',') return Fail("after object key:value pair");
          ++at_;
          bool more = false;
          if (!Key(more)) return false;
          if (!more) {
            CloseFrame();
            continue;
          }
        } else {
          if (c == ']') {
            CloseFrame();
            continue;
          }
          if (c != ',') return Fail("after array element");
          ++at_;
          ++frame.index;
          wanted_ = frame.wanted;
        }
        break;
      }
    }
  }

  /// Reads one value. If it is the start of a collection, sets `opened`; the next value is then its first element.
  bool Value(bool& opened) {
    SkipSpace();
    if (at_ == text_.size()) return End();
    if (!frames_.empty()) ++frames_.back().count;
    switch (text_[at_]) {
      case '{': {
        if (!OpenFrame(true)) return false;
        SkipSpace();
        if (at_ < text_.size() && text_[at_] == '}') {
          CloseFrame();
          return true;
        }
        if (!Key(opened)) return false;
        if (!opened) CloseFrame();
        return true;
      }
      case '[': {
        if (!OpenFrame(false)) return false;
        SkipSpace();
        if (at_ < text_.size() && text_[at_] == ']') {
          CloseFrame();
          return true;
        }
        opened = true;
        return true;
      }
      case '"': {
        std::string_view content;
        if (!String(content)) return false;
        stack_.push_string({content.data(), content.size()});
        return true;
      }
      case 't': return Literal("true") && (stack_.push_bool(true), true);
      case 'f': return Literal("false") && (stack_.push_bool(false), true);
      case 'n': return Literal("null") && (stack_.push_null(), true);
      default: return Number();
    }
  }

  /// Reads up to the next wanted field. Sets `more` to false if the object has none left; the end of the object
  /// follows.
  bool Key(bool& more) {
    for (;;) {
      SkipSpace();
      if (at_ == text_.size()) return End();
      if (text_[at_] != '"') return Fail("looking for beginning of object key string");
      std::string_view key;
      if (!String(key)) return false;
      more = Wanted(key);
      if (more) stack_.push_key({key.data(), key.size()});
      if (strict_) NoteKey(key);
      SkipSpace();
      if (at_ == text_.size()) return End();
      if (text_[at_] != ':') return Fail("after object key");
      ++at_;
      if (more) return true;
      SkipSpace();
      at_ = std::min(SkipJsonValue(text_, at_), text_.size());
      SkipSpace();
      if (at_ == text_.size()) return End();
      if (text_[at_] == '}') return true;
      if (text_[at_] != ',') return Fail("after object key:value pair");
      ++at_;
    }
  }

  /// Returns whether the value of a field is wanted, and sets wanted_ to its mask.
  bool Wanted(std::string_view key) {
    const meta::FieldMask* const mask = frames_.back().wanted;
    if (!mask) return true;  // wanted_ has been nullptr since that frame began
    wanted_ = mask->Find(key);
    if (!wanted_) return false;
    if (wanted_->Everything()) wanted_ = nullptr;
    return true;
  }

  void NoteKey(std::string_view key) {
    // A key with escapes is in scratch_, which the next string overwrites, so it is copied.
    if (key.data() == scratch_.data()) key = escaped_keys_.emplace_back(key);
    Frame& frame = frames_.back();
    if (frame.keys.Add(keys_, key) || !strict_->WantsMore()) return;
    StrictPath path;
    for (std::size_t i = 0; i + 1 < frames_.size(); ++i) {
      // The key of the next frame is the last key that was added before that frame began.
      frames_[i].is_object ? path.PushKey(keys_[frames_[i + 1].keys.First() - 1]) : path.PushIndex(frames_[i].index);
    }
    AddComplaint(*strict_, "duplicate field", path.Child(key));
    if (strict_->duplicates.size() >= Strictness::kMaxComplaints) return;
    strict_->duplicates.push_back(
        {path.Text(), std::string(key), keys_.size() - frame.keys.First() - ++frame.duplicates});
  }

  bool OpenFrame(bool is_object) {
    if (frames_.size() >= limits_.depth) return Fail("exceeded max depth");
    if (strict_ && Interrupted()) return Fail("interrupted");  // only bodies of requests are parsed strictly
    ++at_;
    frames_.push_back(Frame{is_object, wanted_});
    frames_.back().keys = KeySet(keys_.size());
    return true;
  }

  void CloseFrame() {
    ++at_;
    const Frame& frame = frames_.back();
    frame.is_object ? stack_.push_object(frame.count) : stack_.push_array(frame.count);
    keys_.resize(frame.keys.First());
    frames_.pop_back();
  }

  bool Literal(std::string_view word) {
    for (std::size_t i = 1; i < word.size(); ++i) {
      ++at_;
      if (at_ == text_.size()) return End();
      if (text_[at_] != word[i]) return Fail(fmt::format("in literal {} (expecting '{}')", word, word[i]));
    }
    ++at_;
    return true;
  }

  bool Number() {
    const std::size_t start = at_;
    bool whole = true;
    const auto digit = [this] { return at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; };
    if (text_[at_] != '-' && !digit()) return Fail("looking for beginning of value");
    if (text_[at_] == '-') {
      ++at_;
      if (!digit()) return at_ == text_.size() ? End() : Fail("in numeric literal");
    }
    if (text_[at_] == '0') {
      ++at_;
    } else {
      while (digit()) ++at_;
    }
    if (at_ < text_.size() && text_[at_] == '.') {
      whole = false;
      ++at_;
      if (!digit()) return at_ == text_.size() ? End() : Fail("after decimal point in numeric literal");
      while (digit()) ++at_;
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      whole = false;
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (!digit()) return at_ == text_.size() ? End() : Fail("in exponent of numeric literal");
      while (digit()) ++at_;
    }
    return StoreNumber(text_.substr(start, at_ - start), whole);
  }

  bool StoreNumber(std::string_view number, bool whole) {
    if (whole) {
      std::int64_t integer = 0;
      if (std::from_chars(number.data(), number.data() + number.size(), integer).ec == std::errc()) {
        stack_.push_int64(integer);
        return true;
      }
    }
    double real = 0;
    if (std::from_chars(number.data(), number.data() + number.size(), real).ec == std::errc::result_out_of_range) {
      real = std::strtod(std::string(number).c_str(), nullptr);  // underflow gives 0, overflow is an error
      if (std::isinf(real)) {
        error_ = fmt::format("json: cannot unmarshal number {} into Go value of type float64", number);
        return false;
      }
    }
    stack_.push_double(real);
    return true;
  }

  /// Reads a string. `content` is valid until the next string. Invalid UTF-8 and lone surrogates become U+FFFD.
  bool String(std::string_view& content) {
    const std::size_t start = ++at_;
    bool ascii = true;
    while (at_ < text_.size()) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') {
        content = text_.substr(start, at_ - start);
        ++at_;
        if (!ascii && !IsValidUtf8(content)) {
          scratch_ = RepairUtf8(content);
          content = scratch_;
        }
        return true;
      }
      if (c == '\\') return EscapedString(start, content);
      if (c < 0x20) return Fail("in string literal");
      ascii = ascii && c < 0x80;
      ++at_;
    }
    return End();
  }

  bool EscapedString(std::size_t start, std::string_view& content) {
    std::string out(text_.substr(start, at_ - start));
    while (at_ < text_.size()) {
      const auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '"') {
        ++at_;
        scratch_ = IsValidUtf8(out) ? std::move(out) : RepairUtf8(out);
        content = scratch_;
        return true;
      }
      if (c < 0x20) return Fail("in string literal");
      ++at_;
      if (c != '\\') {
        out += static_cast<char>(c);
        continue;
      }
      if (at_ == text_.size()) return End();
      const char escape = text_[at_];
      switch (escape) {
        case '"':
        case '\\':
        case '/': out += escape; break;
        case 'b': out += '\b'; break;
        case 'f': out += '\f'; break;
        case 'n': out += '\n'; break;
        case 'r': out += '\r'; break;
        case 't': out += '\t'; break;
        case 'u': {
          ++at_;
          if (!UnicodeEscape(out)) return false;
          continue;
        }
        default: return Fail("in string escape code");
      }
      ++at_;
    }
    return End();
  }

  bool UnicodeEscape(std::string& out) {
    std::uint32_t rune = 0;
    if (!Hex(rune)) return false;
    if (rune >= 0xd800 && rune < 0xdc00 && at_ + 6 <= text_.size() && text_[at_] == '\\' && text_[at_ + 1] == 'u') {
      const std::size_t before = at_;
      at_ += 2;
      std::uint32_t low = 0;
      if (!Hex(low)) return false;
      if (low >= 0xdc00 && low < 0xe000) {
        AppendUtf8(out, 0x10000 + ((rune - 0xd800) << 10) + (low - 0xdc00));
        return true;
      }
      at_ = before;
    }
    AppendUtf8(out, rune >= 0xd800 && rune < 0xe000 ? 0xfffd : rune);
    return true;
  }

  bool Hex(std::uint32_t& rune) {
    for (int i = 0; i < 4; ++i, ++at_) {
      if (at_ == text_.size()) return End();
      const char c = text_[at_];
      std::uint32_t nibble = 0;
      if (c >= '0' && c <= '9') {
        nibble = c - '0';
      } else if (c >= 'a' && c <= 'f') {
        nibble = c - 'a' + 10;
      } else if (c >= 'A' && c <= 'F') {
        nibble = c - 'A' + 10;
      } else {
        return Fail(R"(in \u hexadecimal character escape)");
      }
      rune = rune << 4 | nibble;
    }
    return true;
  }

  void SkipSpace() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r'))
      ++at_;
  }

  bool Fail(std::string_view where) {
    error_ = fmt::format("invalid character {} {}", QuoteByte(static_cast<unsigned char>(text_[at_])), where);
    return false;
  }

  bool End() {
    error_ = "unexpected end of JSON input";
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Strictness* strict_;
  const ParseLimits& limits_;
  const meta::FieldMask* wanted_;  // the mask of the next value
  value_stack stack_;
  std::vector<Frame> frames_;
  std::vector<std::string_view> keys_;
  std::deque<std::string> escaped_keys_;
  std::string scratch_;
  std::string error_;
};

}  // namespace

meta::Result<meta::json::value> ParseJson(std::string_view text, meta::json::storage_ptr arena, Strictness* strict,
                                          const ParseLimits& limits) {
  return JsonParser(text, strict, limits).Parse(std::move(arena));
}

meta::Result<meta::json::value> ParseJsonParts(std::string_view text, const meta::FieldMask& wanted,
                                               meta::json::storage_ptr arena) {
  static constexpr ParseLimits kOurOwn{.bytes = std::string_view::npos};
  return JsonParser(text, nullptr, kOurOwn, wanted.Everything() ? nullptr : &wanted).Parse(std::move(arena));
}

}  // namespace apimesh::codec
