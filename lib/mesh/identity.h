#pragma once

#include <string>
#include <string_view>

namespace apimesh::mesh {

/// The processes that have a certificate of the mesh.
inline constexpr std::string_view kAggregator = "aggregator";
inline constexpr std::string_view kCoreApi = "core-api";
inline constexpr std::string_view kExtensionsApi = "extensions-api";
inline constexpr std::string_view kAuthnAuthz = "authn-authz";
inline constexpr std::string_view kEnvoy = "envoy";

/// The identity of a process, which is a URI in its certificate: "spiffe://apimesh/core-api".
inline std::string IdentityOf(std::string_view process) { return "spiffe://apimesh/" + std::string(process); }

}  // namespace apimesh::mesh
