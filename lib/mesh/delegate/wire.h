#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "lib/base/text/varint.h"

/// A hand-written encoder and decoder of protobuf's wire format, for the message that every request carries. It
/// converts directly between the bytes and the structs, without protobuf message objects.
namespace apimesh::mesh {

class WireWriter {
 public:
  explicit WireWriter(std::string& out) : out_(out) {}

  /// Empty strings and zeros are omitted, as in proto3.
  void Text(int field, std::string_view text) {
    if (!text.empty()) Element(field, text);
  }
  /// Writes one element of a repeated field, even if it is empty.
  void Element(int field, std::string_view text) {
    Varint(static_cast<std::uint64_t>(field) << 3 | 2);
    Varint(text.size());
    out_.append(text);
  }
  void Number(int field, std::uint64_t number) {
    if (number == 0) return;
    Varint(static_cast<std::uint64_t>(field) << 3);
    Varint(number);
  }
  /// Writes a nested message; `fill` writes its fields with this writer.
  template <class Fill>
  void Nested(int field, Fill fill) {
    Varint(static_cast<std::uint64_t>(field) << 3 | 2);
    const std::size_t begin = out_.size();
    out_.append(kLengthBytes, '\0');
    fill();
    // The length is known only now. It is padded to kLengthBytes, which every varint decoder accepts.
    std::size_t length = out_.size() - begin - kLengthBytes;
    for (std::size_t i = 0; i < kLengthBytes; ++i, length >>= 7) {
      out_[begin + i] = static_cast<char>((length & 0x7f) | (i + 1 < kLengthBytes ? 0x80 : 0));
    }
  }
  void Varint(std::uint64_t value) { AppendVarint(out_, value); }

 private:
  static constexpr std::size_t kLengthBytes = 4;
  std::string& out_;
};

/// Reads the fields of one message in the order in which they are encoded.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  /// Returns false at the end of the message or at malformed bytes; Good() distinguishes the two.
  bool Next();
  bool Good() const { return good_; }

  int Field() const { return field_; }
  std::string_view Text() const { return text_; }   // of a string, bytes or message field; otherwise empty
  std::uint64_t Number() const { return number_; }  // of a varint field; otherwise 0

 private:
  std::string_view rest_;
  bool good_ = true;
  int field_ = 0;
  std::string_view text_;
  std::uint64_t number_ = 0;
};

}  // namespace apimesh::mesh
