#include <cstddef>
#include <cstdint>

#include "lib/rpc/delegate_proto.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  apimesh::rpc::Request request;
  apimesh::rpc::ParseRequest(bytes, &request);
  apimesh::rpc::Response response;
  apimesh::rpc::ParseResponse(bytes, &response);
  return 0;
}
