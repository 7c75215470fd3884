#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/base/ip_address.h"
#include "lib/meta/errors/field_error.h"
#include "lib/meta/names.h"

namespace apimesh::core_api {

/// An address with the length of a prefix, such as 10.1.2.3/8.
struct Cidr {
  IpAddress address;
  unsigned bits = 0;

  /// Returns the address with all bits after the prefix set to 0.
  IpAddress Network() const;
  bool Contains(const IpAddress& other) const;
  /// Returns the canonical text of the network.
  std::string ToString() const;
};

/// Parses "10.9.8.0/24". Leading zeros are accepted, because older servers have stored them. IPv4-mapped addresses
/// become IPv4 addresses.
std::optional<Cidr> ParseCidr(std::string_view text);

/// Checks a CIDR: it must not have leading zeros, an IPv4-mapped address or bits after the prefix.
meta::Complaints CheckCidr(std::string_view text);
/// Like CheckCidr, but the text must also be canonical.
meta::Complaints CheckCanonicalCidr(std::string_view text);

// The warnings for values of older objects, which CheckCidr and CheckIp refuse in new ones, and for IPv6 texts that are
// not canonical.
std::vector<std::string> CidrWarnings(const meta::Path& path, std::string_view text);
std::vector<std::string> IpWarnings(const meta::Path& path, std::string_view text);

}  // namespace apimesh::core_api
