// Links: lib/rpc/request_wire.cc lib/rpc/delegate_proto.cc lib/rpc/wire.cc meta segment mesh_proto_messages
#include <cstddef>
#include <cstdint>

#include "lib/rpc/delegate_proto.h"

static volatile int sum = 0;  // so that all bytes are really looked at

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  apimesh::rpc::Request request;
  apimesh::rpc::ParseRequest(bytes, &request);
  apimesh::rpc::Response response;
  apimesh::rpc::ParseResponse(bytes, &response);
  static const auto segment = apimesh::segment::Segment::New(1 << 20);
  static const auto view = apimesh::segment::View::Open(segment->Name());
  apimesh::rpc::ParsedChunk chunk;
  apimesh::rpc::ParseChunk(bytes, view, &chunk);
  for (const apimesh::SharedBytes& piece : chunk.pieces) sum = sum + (piece.empty() ? 0 : piece.View().front() + piece.View().back());
  return 0;
}
