#pragma once

#include "lib/meta/names.h"

namespace apimesh::core_api {

/// Checks an IPv4 or IPv6 address of an old field: with the feature gate StrictIPCIDRValidation, it must not have
/// leading zeros and must not be IPv4-mapped. It need not be canonical.
meta::Complaints CheckIp(std::string_view text);
/// Checks an IPv4 or IPv6 address of a new field, which must be canonical ("fd00::1").
meta::Complaints CheckCanonicalIp(std::string_view text);
/// Checks an address that traffic is sent to: it must not be unspecified, loopback, link-local or link-local multicast.
/// Leading zeros are accepted here; CheckIp refuses them.
meta::Complaints CheckEndpointIp(std::string_view text);
/// Checks a domain name: it has at least two labels and may end with a dot.
meta::Complaints CheckFullyQualifiedDomainName(std::string_view text);

/// Returns "IPv4", "IPv6", or "" if the text is not an IP address. An IPv4-mapped address is IPv4.
std::string_view IpFamilyOf(std::string_view text);

}  // namespace apimesh::core_api
