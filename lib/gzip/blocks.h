#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// A gzip body as a concatenation: parts that were compressed on their own, each at any time before, and a trailer that is
/// reckoned from what is known of them. Nobody reads the text again.
namespace apimesh::gzip {

/// What a trailer has to know of a part.
struct Sum {
  std::uint32_t crc = 0;
  std::uint32_t shift = 0;  // the operator that moves a checksum by this part's size
  std::uint64_t size = 0;
};
Sum SumOf(std::string_view plain);

/// `plain` as deflate blocks that refer to nothing outside of it, end on a byte boundary and do not end the body.
std::string Deflate(std::string_view plain);
/// The same without compressing it: 5 bytes more for each 64 KB.
std::string Stored(std::string_view plain);

/// Begins with Head() and ends with Tail(); what lies between are parts made by Deflate() or Stored(), each told to Add() in turn.
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
