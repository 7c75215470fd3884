#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace apimesh::core_api {

/// The addresses of a CIDR that can be allocated to services. Immutable.
class IpRange {
 public:
  /// Returns nullopt if the text is not "address/bits".
  static std::optional<IpRange> Parse(std::string_view cidr);

  bool operator==(const IpRange& other) const = default;

  std::string_view Family() const { return size_ == 4 ? "IPv4" : "IPv6"; }
  /// Returns the number of addresses, without the network address and, for IPv4, the broadcast address; at most 2^20.
  std::uint64_t Count() const { return count_; }
  /// Returns the index of the first address for automatic allocation. Addresses before it are used automatically only
  /// when no others are left, so that users can request them.
  std::uint64_t DynamicOffset() const;
  /// Returns the address with this index, starting at 0.
  std::string At(std::uint64_t index) const;
  /// Whether the address can be allocated. The network address and, for IPv4, the broadcast address cannot.
  bool Contains(std::string_view ip) const;
  /// Returns the network address.
  std::string Network() const;

 private:
  /// Returns the address at this distance from the network address.
  std::string Offset(std::uint64_t offset) const;

  std::array<unsigned char, 16> base_{};
  std::size_t size_ = 4;  // bytes
  unsigned bits_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace apimesh::core_api
