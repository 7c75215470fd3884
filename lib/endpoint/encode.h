#pragma once

#include <string>
#include <vector>

#include "lib/endpoint/request.h"
#include "lib/rpc/delegate.h"
#include "lib/storage/store.h"

/// Answers in the form the client asked for. Plain JSON of stored objects goes out as the bytes the store holds.
namespace apimesh::endpoint {

meta::Result<rpc::Response> ObjectResponse(const ResourceRequest& request, int code, const storage::EntryPtr& entry);
/// Of an object that is not in the store (a dry run, a review).
meta::Result<rpc::Response> ObjectResponse(const ResourceRequest& request, int code, const meta::Object& object);
/// A meta.k8s.io Status.
rpc::Response StatusResponse(const ResourceRequest& request, int code, const meta::json::object& status);
rpc::Response ErrorResponse(const ResourceRequest& request, const meta::ApiError& error);

/// A finished JSON document in the negotiated format (`node`: for protobuf).
std::string Convert(const codec::OutputType& output, std::string json, const schema::Node* node);

/// The kind of the answer as Go's %T prints the reference's type of it: *core.ConfigMap.
std::string GoType(const ResourceRequest& request);

void AddWarnings(const meta::RequestContext& ctx, rpc::Headers& headers);

/// The protobuf envelope of an entry, made once.
SharedBytes ProtobufOf(const ServedResource& served, const storage::Entry& entry);

}  // namespace apimesh::endpoint
