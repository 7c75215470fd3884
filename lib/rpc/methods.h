#pragma once

/// The names of proto/mesh/v1's methods on the wire.
namespace apimesh::rpc::methods {

inline constexpr const char* kCall = "/apimesh.mesh.v1.Delegate/Call";
inline constexpr const char* kStream = "/apimesh.mesh.v1.Delegate/Stream";
inline constexpr const char* kConnect = "/apimesh.mesh.v1.Delegate/Connect";
inline constexpr const char* kDescribe = "/apimesh.mesh.v1.Delegate/Describe";
inline constexpr const char* kAuthenticate = "/apimesh.mesh.v1.Authenticator/Authenticate";
inline constexpr const char* kAuthorize = "/apimesh.mesh.v1.Authorizer/Authorize";
inline constexpr const char* kRules = "/apimesh.mesh.v1.Authorizer/Rules";
inline constexpr const char* kMetrics = "/apimesh.mesh.v1.Authorizer/Metrics";
inline constexpr const char* kInvalidations = "/apimesh.mesh.v1.Authorizer/Invalidations";

}  // namespace apimesh::rpc::methods
