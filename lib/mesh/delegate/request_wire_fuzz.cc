// Links: lib/mesh/delegate/request_wire.cc lib/mesh/delegate/delegate_proto.cc lib/mesh/delegate/wire.cc
// Links: meta shared_memory mesh_proto_messages
#include <cstddef>
#include <cstdint>

#include "lib/mesh/delegate/delegate_proto.h"

static volatile int sum = 0;  // makes the compiler keep the reads of all bytes

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  apimesh::mesh::Request request;
  apimesh::mesh::ParseRequest(bytes, &request);
  apimesh::mesh::Response response;
  apimesh::mesh::ParseResponse(bytes, &response);
  static const auto segment = apimesh::shared_memory::Segment::New(1 << 20);
  static const auto view = apimesh::shared_memory::View::Open(segment->Name());
  apimesh::mesh::ParsedChunk chunk;
  apimesh::mesh::ParseChunk(bytes, view, &chunk);
  for (const apimesh::SharedBytes& piece : chunk.pieces)
    sum = sum + (piece.empty() ? 0 : piece.View().front() + piece.View().back());
  return 0;
}
