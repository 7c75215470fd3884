#pragma once

/// The full gRPC method names of proto/mesh/v1.
namespace apimesh::mesh::methods {

inline constexpr const char* kCall = "/apimesh.mesh.v1.Delegate/Call";
inline constexpr const char* kStream = "/apimesh.mesh.v1.Delegate/Stream";
inline constexpr const char* kConnect = "/apimesh.mesh.v1.Delegate/Connect";
inline constexpr const char* kDescribe = "/apimesh.mesh.v1.Delegate/Describe";
inline constexpr const char* kRecordUse = "/apimesh.mesh.v1.LegacyTokens/RecordUse";
inline constexpr const char* kAuthenticate = "/apimesh.mesh.v1.Authenticator/Authenticate";
inline constexpr const char* kAuthorize = "/apimesh.mesh.v1.Authorizer/Authorize";
inline constexpr const char* kRules = "/apimesh.mesh.v1.Authorizer/Rules";
inline constexpr const char* kMetrics = "/apimesh.mesh.v1.Authorizer/Metrics";
inline constexpr const char* kDiagnose = "/apimesh.mesh.v1.Authorizer/Diagnose";
inline constexpr const char* kInvalidations = "/apimesh.mesh.v1.Authorizer/Invalidations";

}  // namespace apimesh::mesh::methods
