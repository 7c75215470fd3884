#pragma once

// Internal: this header includes protobuf, so only .cc files may include it.

#include "lib/grpc/message.h"
#include "lib/grpc/status.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/shared_memory/segment.h"
#include "lib/shared_memory/view.h"
#include "proto/mesh/v1/delegate.pb.h"

/// The conversion between the plain structs of the mesh contract and its protobuf encoding. No other file knows both.
namespace apimesh::mesh {

mesh::v1::Request ToProto(Request request);
Request FromProto(mesh::v1::Request&& message);
/// Encodes a mesh::v1::Request directly, without a protobuf message object; the body becomes a separate piece.
grpc::Message Encode(Request&& request);
/// Decodes it; returns false if the bytes are not a valid mesh::v1::Request.
bool ParseRequest(std::string_view bytes, Request* request);

mesh::v1::Response ToProto(const Response& response);
Response FromProto(mesh::v1::Response&& message);
/// Encodes a mesh::v1::Response; the body pieces are referenced, not copied.
grpc::Message Encode(const Response& response);
/// Decodes it; the body refers to `bytes` and is not copied. Returns false if the bytes are malformed.
bool ParseResponse(std::string bytes, Response* response);

/// Encodes one mesh::v1::Chunk. `code` is 0 for every chunk except the first.
grpc::Message EncodeChunk(int code, const Headers& headers, const std::vector<SharedBytes>& pieces,
                          ResumePosition position = {});
/// Encodes a complete response as a single chunk.
grpc::Message EncodeCompleteChunk(const Response& response);
/// The position of a piece that can be shared: it lies in the segment and is large enough. Otherwise nullopt.
std::optional<shared_memory::Position> SharablePosition(const shared_memory::Segment& segment, std::string_view piece);
/// The maximum number of pieces of one lease.
inline constexpr std::size_t kMaxSharedPieces = 64 << 10;
/// Encodes a chunk whose larger pieces are shared and kept alive by `lease`; the other pieces are copied into the
/// chunk. If `complete` is set, the chunk has the code and headers of that response and is its only chunk.
grpc::Message EncodeSharedChunk(const shared_memory::Segment& segment, shared_memory::Segment::Lease& lease,
                                std::vector<SharedBytes> pieces, const Response* complete = nullptr);
grpc::Message EncodeLastChunk();
struct ParsedChunk {
  int code = 0;
  Headers headers;
  std::vector<SharedBytes> pieces;
  ResumePosition position;
  bool complete = false;
  bool last = false;
};
/// `memory` is the shared memory of the server, or nullptr if the chunk must not refer to shared memory. Bytes in
/// shared memory are revocable.
bool ParseChunk(std::string bytes, const std::shared_ptr<const shared_memory::View>& memory, ParsedChunk* chunk);
Headers FromProto(google::protobuf::RepeatedPtrField<mesh::v1::Header>&& headers);

mesh::v1::User ToProto(meta::UserInfo user);
meta::UserInfo FromProto(mesh::v1::User&& message);
mesh::v1::RequestInfo ToProto(meta::RequestInfo info);
/// `path` is not part of the message; it is taken from the request.
meta::RequestInfo FromProto(mesh::v1::RequestInfo&& message);

/// The error that a client receives when the call itself failed. Addresses inside the mesh are only logged.
meta::ApiError ToApiError(const grpc::Status& status);

}  // namespace apimesh::mesh
