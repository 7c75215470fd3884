#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace apimesh::core_api {

/// The addresses of a CIDR that services may have. Immutable.
class IpRange {
 public:
  /// nullopt: not "address/bits".
  static std::optional<IpRange> Parse(std::string_view cidr);

  std::string_view Family() const { return size_ == 4 ? "IPv4" : "IPv6"; }
  /// How many there are: neither the network's own address nor, for IPv4, the broadcast address; at most 2^20.
  std::uint64_t Count() const { return count_; }
  /// Where the part begins from which addresses are given out first; those before it are for users who ask for one.
  std::uint64_t DynamicOffset() const;
  /// The address with this number, from 0 on.
  std::string At(std::uint64_t index) const;
  bool Contains(std::string_view ip) const;

 private:
  std::array<unsigned char, 16> base_{};
  std::size_t size_ = 4;  // bytes
  unsigned bits_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace apimesh::core_api
