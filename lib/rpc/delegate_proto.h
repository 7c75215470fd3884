#pragma once

// Internal: includes protobuf, so only .cc files may include this.

#include "lib/h2/status.h"
#include "lib/h2/stream.h"
#include "lib/rpc/delegate.h"
#include "lib/segment/segment.h"
#include "lib/segment/view.h"
#include "proto/mesh/v1/delegate.pb.h"

/// The one place that knows both forms of the mesh contract: the plain structs and the messages on the wire.
namespace apimesh::rpc {

mesh::v1::Request ToProto(Request request);
Request FromProto(mesh::v1::Request&& message);
/// The bytes of a mesh::v1::Request, without a message in between; the body is a piece of its own.
h2::Message Encode(Request&& request);
/// Reads them; false if they are not one.
bool ParseRequest(std::string_view bytes, Request* request);

mesh::v1::Response ToProto(const Response& response);
Response FromProto(mesh::v1::Response&& message);
/// The bytes of a mesh::v1::Response; its body pieces are referred to, not copied.
h2::Message Encode(const Response& response);
/// Reads them; the body stays where it is. False if they are not one.
bool ParseResponse(std::string bytes, Response* response);

/// The bytes of one mesh::v1::Chunk. `code` 0: not the first one.
h2::Message EncodeChunk(int code, const Headers& headers, const std::vector<SharedBytes>& pieces, WatchPlace place = {});
/// The one chunk of an answer that has no more.
h2::Message EncodeWholeChunk(const Response& response);
/// Where a piece lies that can stay there: it is in the segment, and large enough.
std::optional<segment::Place> LendablePlace(const segment::Segment& segment, std::string_view piece);
/// The most pieces that a lease should keep.
inline constexpr std::size_t kMostLent = 64 << 10;
/// A chunk whose larger pieces stay where they are, kept by `lease`; the others travel in the chunk. `whole`: it has code and headers of this
/// answer and is the only one.
h2::Message EncodeLentChunk(const segment::Segment& segment, segment::Segment::Lease& lease, std::vector<SharedBytes> pieces,
                            const Response* whole = nullptr);
h2::Message EncodeLastChunk();
struct ParsedChunk {
  int code = 0;
  Headers headers;
  std::vector<SharedBytes> pieces;
  WatchPlace place;
  bool whole = false;
  bool last = false;
  std::uint32_t slot = 0;
  std::uint64_t lease = 0;  // 0: all pieces are the chunk's own
};
/// `lent`: where the pieces lie that are not in the chunk; nullptr: there can be none.
bool ParseChunk(std::string bytes, const std::shared_ptr<const segment::View>& lent, ParsedChunk* chunk);
Headers FromProto(google::protobuf::RepeatedPtrField<mesh::v1::Header>&& headers);

mesh::v1::Description ToProto(const Description& description);
Description FromProto(mesh::v1::Description&& message);

mesh::v1::User ToProto(meta::UserInfo user);
meta::UserInfo FromProto(mesh::v1::User&& message);
mesh::v1::RequestInfo ToProto(meta::RequestInfo info);
/// `path` is not part of the message: it is that of the request.
meta::RequestInfo FromProto(mesh::v1::RequestInfo&& message);

/// What a client is told when the call itself failed. Addresses inside the mesh are for the log only.
meta::ApiError ToApiError(const h2::Status& status);

}  // namespace apimesh::rpc
