#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/ip/address.hpp>

namespace apimesh {

using IpAddress = boost::asio::ip::address;

/// Parses "10.9.8.7" or "2001:db8::1". Octets with leading zeros, zones ("fe80::1%eth0") and shortened forms ("127.1")
/// are refused: different programs read them as different addresses.
std::optional<IpAddress> ParseIp(std::string_view text);
/// Like ParseIp, but octets may have leading zeros and are read as decimal numbers. Objects that were stored by older
/// servers may contain such addresses.
std::optional<IpAddress> ParseIpWithLeadingZeros(std::string_view text);
/// The canonical text of an address (RFC 5952).
std::string ToText(const IpAddress& address);

/// Returns the IPv4 address that is embedded in an IPv6 address, otherwise the address itself. The supported formats
/// are IPv4-mapped (::ffff:a.b.c.d), IPv4-compatible (::a.b.c.d), IPv4-translated (::ffff:0:a.b.c.d), NAT64
/// (64:ff9b::a.b.c.d) and 6to4 (2002:aabb:ccdd::/48).
IpAddress Unmap(const IpAddress& address);

/// The purpose of an address. IsGlobalUnicast() depends only on this.
enum class IpScope { kGlobal, kUnspecified, kLoopback, kLinkLocal, kLinkLocalMulticast, kMulticast, kBroadcast };
/// The scope of an address after Unmap().
IpScope ScopeOf(const IpAddress& address);

/// Whether a server may connect to the address on behalf of a user: private and public unicast addresses, but not the
/// server's own machine, its link or a multicast group.
inline bool IsGlobalUnicast(const IpAddress& address) { return ScopeOf(address) == IpScope::kGlobal; }

}  // namespace apimesh
