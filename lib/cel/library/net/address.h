#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace apimesh::cel {

/// An IP address as Go's net/netip has it, without zone.
struct Address {
  std::array<std::uint8_t, 16> bytes{};  // an IPv4 address has 4
  bool v6 = false;

  int Bits() const { return v6 ? 128 : 32; }
  bool Is4In6() const;
  bool operator==(const Address& other) const = default;
  std::string ToString() const;
};

/// On failure, returns nothing and sets `error` to Go's text. A zone is accepted and sets `has_zone`.
std::optional<Address> ParseAddress(std::string_view text, bool& has_zone, std::string& error);

/// An address with the length of a prefix.
struct Prefix {
  Address address;
  int bits = 0;

  Address Masked() const;
  bool Contains(const Address& other) const;
};
std::optional<Prefix> ParsePrefix(std::string_view text, std::string& error);

}  // namespace apimesh::cel
