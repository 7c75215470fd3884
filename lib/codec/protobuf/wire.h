#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "lib/base/text/varint.h"

/// Reads and writes the protobuf wire format. The protobuf library is not used, because the fields are defined by the
/// schema at run time.
namespace apimesh::codec::wire {

enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };

inline void PutTag(std::string& out, std::uint32_t number, WireType type) {
  AppendVarint(out, std::uint64_t{number} << 3 | type);
}
inline void PutInteger(std::string& out, std::uint32_t number, std::int64_t value) {
  PutTag(out, number, kVarint);
  AppendVarint(out, static_cast<std::uint64_t>(value));
}
inline void PutBytes(std::string& out, std::uint32_t number, std::string_view bytes) {
  PutTag(out, number, kLengthDelimited);
  AppendVarint(out, bytes.size());
  out += bytes;
}
inline void PutDouble(std::string& out, std::uint32_t number, double value) {
  PutTag(out, number, kFixed64);
  char bytes[8];
  std::memcpy(bytes, &value, 8);
  out.append(bytes, 8);
}

/// Writes a length-delimited field whose length is known only after `write` has run.
template <class Write>
void PutMessage(std::string& out, std::uint32_t number, Write&& write) {
  PutTag(out, number, kLengthDelimited);
  const std::size_t start = out.size();
  write();
  std::string length;
  AppendVarint(length, out.size() - start);
  out.insert(start, length);
}

/// Reads fields one after the other. After malformed input, Next() returns false and Failed() returns true.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  bool Next() {
    if (failed_ || rest_.empty()) return false;
    const std::uint64_t tag = Varint();
    number_ = static_cast<std::uint32_t>(tag >> 3);
    type_ = static_cast<WireType>(tag & 7);
    if (failed_ || tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return Fail();
    switch (type_) {
      case kVarint: integer_ = Varint(); return !failed_;
      case kFixed64: return Take(8);
      case kFixed32: return Take(4);
      case kLengthDelimited: {
        const std::uint64_t size = Varint();
        return !failed_ && Take(size);
      }
    }
    return Fail();
  }
  bool Failed() const { return failed_; }
  std::uint32_t Number() const { return number_; }
  WireType GetType() const { return type_; }
  std::uint64_t Integer() const { return integer_; }
  std::string_view Bytes() const { return bytes_; }
  double Double() const {
    double value = 0;
    if (bytes_.size() == 8) std::memcpy(&value, bytes_.data(), 8);
    return value;
  }

 private:
  bool Fail() {
    failed_ = true;
    return false;
  }
  bool Take(std::uint64_t size) {
    if (size > rest_.size()) return Fail();
    bytes_ = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  std::uint64_t Varint() {
    std::uint64_t value = 0;
    if (ReadVarint(rest_, value)) return value;
    failed_ = true;
    return 0;
  }

  std::string_view rest_, bytes_;
  std::uint64_t integer_ = 0;
  std::uint32_t number_ = 0;
  WireType type_ = kVarint;
  bool failed_ = false;
};

}  // namespace apimesh::codec::wire
