#pragma once

// Internal: includes gRPC and protobuf, so only .cc files may include this.

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/status.h>

#include "lib/rpc/delegate.h"
#include "proto/mesh/v1/delegate.pb.h"

/// The one place that knows both forms of the mesh contract: the plain structs and the messages on the wire.
namespace apimesh::rpc {

mesh::v1::Request ToProto(Request request);
Request FromProto(mesh::v1::Request&& message);
/// Reads the bytes of a mesh::v1::Request; false if they are not one.
bool ParseRequest(const grpc::ByteBuffer& bytes, Request* request);

mesh::v1::Response ToProto(const Response& response);
Response FromProto(mesh::v1::Response&& message);
/// The bytes of a mesh::v1::Response whose body pieces are referred to, not copied, where they are large.
grpc::ByteBuffer Encode(const Response& response);

/// The bytes of one mesh::v1::Chunk. `code` 0: not the first one.
grpc::ByteBuffer EncodeChunk(int code, const Headers& headers, const std::vector<SharedBytes>& pieces);
Headers FromProto(google::protobuf::RepeatedPtrField<mesh::v1::Header>&& headers);

mesh::v1::Description ToProto(const Description& description);
Description FromProto(mesh::v1::Description&& message);

mesh::v1::User ToProto(meta::UserInfo user);
meta::UserInfo FromProto(mesh::v1::User&& message);
mesh::v1::RequestInfo ToProto(meta::RequestInfo info);
/// `path` is not part of the message: it is that of the request.
meta::RequestInfo FromProto(mesh::v1::RequestInfo&& message);

/// What a client is told when the call itself failed. Addresses inside the mesh are for the log only.
meta::ApiError ToApiError(const grpc::Status& status);

}  // namespace apimesh::rpc
