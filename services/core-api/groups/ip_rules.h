#pragma once

#include "lib/meta/names.h"

namespace apimesh::core_api {

/// Rules of an IPv4 or IPv6 address: no leading zeros, not IPv4-mapped. The text need not be canonical.
meta::Complaints CheckIp(std::string_view text);
/// Like CheckIp; the text must also be canonical ("fd00::1").
meta::Complaints CheckCanonicalIp(std::string_view text);
/// Rules of an address that traffic is sent to: not unspecified, not loopback, not link-local. Leading zeros are accepted; they are
/// a matter of CheckIp.
meta::Complaints CheckEndpointIp(std::string_view text);
/// A domain name with at least two labels, which may end with a dot.
meta::Complaints CheckFullyQualifiedDomainName(std::string_view text);

/// "IPv4", "IPv6", or "" if the text is no IP address. An IPv4-mapped address is IPv4.
std::string_view IpFamilyOf(std::string_view text);

}  // namespace apimesh::core_api
