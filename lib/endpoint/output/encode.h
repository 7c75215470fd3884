#pragma once

#include <string>
#include <vector>

#include "lib/endpoint/request.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/storage/store.h"

/// Encodes responses as negotiated with the client. Plain JSON of a stored object is sent as the stored bytes.
namespace apimesh::endpoint {

meta::Result<mesh::Response> ObjectResponse(const ResourceRequest& request, int code, const storage::EntryPtr& entry);
/// The same for an object that is not in the store (a dry run, a review).
meta::Result<mesh::Response> ObjectResponse(const ResourceRequest& request, int code, const meta::Object& object);
/// Encodes a meta.k8s.io Status.
mesh::Response StatusResponse(const ResourceRequest& request, int code, const meta::json::object& status);
mesh::Response ErrorResponse(const ResourceRequest& request, const meta::ApiError& error);

/// Converts a JSON document to the negotiated format. `node` is the schema for protobuf.
std::string Convert(const codec::OutputType& output, std::string json, const schema::Node* node);

/// Returns the Go type of the response as kube-apiserver prints it with %T, for example *core.ConfigMap.
std::string GoType(const ResourceRequest& request);

void AddWarnings(const meta::RequestContext& ctx, mesh::Headers& headers);
/// Adds the audit annotations as internal headers, which the edge removes (lib/mesh/audit_headers.h).
void AddAuditAnnotations(const meta::RequestContext& ctx, mesh::Headers& headers);
/// Adds both warnings and audit annotations.
void AddAdmissionHeaders(const meta::RequestContext& ctx, mesh::Headers& headers);

/// Returns the protobuf envelope of an entry. It is encoded once and cached in the entry.
SharedBytes ProtobufOf(const ServedResource& served, const storage::Entry& entry);

}  // namespace apimesh::endpoint
