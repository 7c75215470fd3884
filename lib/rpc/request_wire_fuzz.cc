// Links: lib/rpc/request_wire.cc lib/rpc/delegate_proto.cc lib/rpc/wire.cc meta mesh_proto_messages
#include <cstddef>
#include <cstdint>

#include "lib/rpc/delegate_proto.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  apimesh::rpc::Request request;
  apimesh::rpc::ParseRequest(bytes, &request);
  apimesh::rpc::Response response;
  apimesh::rpc::ParseResponse(bytes, &response);
  apimesh::rpc::ParsedChunk chunk;
  apimesh::rpc::ParseChunk(bytes, &chunk);
  return 0;
}
