#pragma once

#include "lib/meta/names.h"

namespace apimesh::core_api {

/// An IPv4 or IPv6 address.
meta::Complaints CheckIp(std::string_view text);
/// An address that can be somebody else's: not unspecified, not loopback, not link-local.
meta::Complaints CheckEndpointIp(std::string_view text);

}  // namespace apimesh::core_api
