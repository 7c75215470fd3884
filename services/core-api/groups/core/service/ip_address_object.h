#pragma once

#include "lib/base/clock.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// The label by which the allocator recognizes its IPAddresses, and its value.
inline constexpr const char* kManagedByLabel = "ipaddress.kubernetes.io/managed-by";
inline constexpr const char* kIpAllocator = "ipallocator.k8s.io";
inline constexpr const char* kIpFamilyLabel = "ipaddress.kubernetes.io/ip-family";

/// Returns the IPAddress that allocates an address to a service, as it is stored.
meta::Object AddressObject(std::string_view ip, std::string_view family, const meta::Object& service, WallTime now);

}  // namespace apimesh::core_api
