#pragma once

#include <string_view>

namespace apimesh::rpc {

/// In any answer of a server of the mesh, any number of times: "key=value" for the audit event of the request. The edge takes it out
/// before a client sees it.
inline constexpr std::string_view kAuditAnnotationHeader = "x-apimesh-audit-annotation";

}  // namespace apimesh::rpc
