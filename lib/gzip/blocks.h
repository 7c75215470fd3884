#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// A gzip body as a concatenation of parts that were compressed separately and earlier. The trailer is computed from
/// the checksums of the parts, so the text is not read again.
namespace apimesh::gzip {

/// What the trailer needs to know about a part.
struct Sum {
  std::uint32_t crc = 0;
  std::uint32_t shift = 0;  // the operator that shifts a checksum by the size of this part
  std::uint64_t size = 0;
};
Sum SumOf(std::string_view plain);

/// Compresses `plain` to deflate blocks that refer to nothing outside of it, end on a byte boundary and do not end the
/// body.
std::string Deflate(std::string_view plain);
/// The same without compression: 5 bytes of overhead for each 64 KB.
std::string Stored(std::string_view plain);

/// Computes the head and the trailer. The body begins with Head() and ends with Tail(); between them are parts made by
/// Deflate() or Stored(), and Add() is called for each part in order.
class Body {
 public:
  static std::string_view Head();
  void Add(const Sum& part);
  std::string Tail() const;

 private:
  std::uint32_t crc_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace apimesh::gzip
