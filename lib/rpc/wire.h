#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Protobuf's wire format by hand, for the one message that every request carries: no objects between it and our structs.
namespace apimesh::rpc {

class WireWriter {
 public:
  explicit WireWriter(std::string& out) : out_(out) {}

  /// Empty texts and zeros are left out, as proto3 does.
  void Text(int field, std::string_view text) {
    if (!text.empty()) Element(field, text);
  }
  /// One of a repeated field: also when it is empty.
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
  /// A message inside: `fill` writes its fields by this writer.
  template <class Fill>
  void Nested(int field, Fill fill) {
    Varint(static_cast<std::uint64_t>(field) << 3 | 2);
    const std::size_t begin = out_.size();
    out_.append(kLengthBytes, '\0');
    fill();
    // The length is known now; it has leading zeros, which every reader of varints takes.
    std::size_t length = out_.size() - begin - kLengthBytes;
    for (std::size_t i = 0; i < kLengthBytes; ++i, length >>= 7) {
      out_[begin + i] = static_cast<char>((length & 0x7f) | (i + 1 < kLengthBytes ? 0x80 : 0));
    }
  }
  void Varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }

 private:
  static constexpr std::size_t kLengthBytes = 4;
  std::string& out_;
};

/// Reads the fields of one message, in the order they come.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  /// False at the end, or at bytes that are no field: Good() tells which.
  bool Next();
  bool Good() const { return good_; }

  int Field() const { return field_; }
  std::string_view Text() const { return text_; }         // of a text, bytes or message; empty for others
  std::uint64_t Number() const { return number_; }        // of a number; 0 for others

 private:
  bool Varint(std::uint64_t& value);

  std::string_view rest_;
  bool good_ = true;
  int field_ = 0;
  std::string_view text_;
  std::uint64_t number_ = 0;
};

}  // namespace apimesh::rpc
