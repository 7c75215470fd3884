#pragma once

#include <string_view>

/// Headers with which the edge and the servers of the mesh exchange what the audit event of a request contains. Clients
/// can neither send nor receive them.
namespace apimesh::mesh {

/// A response header, which may be repeated: "key=value" is added to the annotations of the event.
inline constexpr std::string_view kAuditAnnotationHeader = "x-apimesh-audit-annotation";

/// A header of a write whose body the event describes: kAuditReference or kAuditObject.
inline constexpr std::string_view kAuditWantsHeader = "x-apimesh-audit-wants";
inline constexpr std::string_view kAuditReference = "reference";  // only kAuditReferenceHeader
inline constexpr std::string_view kAuditObject = "object";        // also kAuditObjectHeader

/// Response headers: the body of the request after it was decoded and defaulted, as JSON, and its namespace, name, uid
/// and resourceVersion as a JSON object.
inline constexpr std::string_view kAuditObjectHeader = "x-apimesh-audit-object";
inline constexpr std::string_view kAuditReferenceHeader = "x-apimesh-audit-reference";

}  // namespace apimesh::mesh
