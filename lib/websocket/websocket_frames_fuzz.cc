// A client may send arbitrary bytes. No bytes may crash the reader, and the messages must not depend on how the bytes
// were split.
#include <cstdlib>

#include "lib/websocket/frame_reader.h"

namespace apimesh::websocket {
namespace {

std::string Read(std::string_view input, std::size_t step) {
  FrameReader reader;
  std::string seen, message;
  while (!input.empty()) {
    std::string_view piece = input.substr(0, step);
    input.remove_prefix(piece.size());
    while (const std::optional<Part> part = reader.Next(piece)) {
      const bool control = part->opcode != Opcode::kText && part->opcode != Opcode::kBinary;
      if (control && part->data.size() > 125) std::abort();
      if (!control && part->first && !message.empty()) std::abort();  // the last message has not ended
      std::string& to = control ? seen : message;
      to += std::to_string(static_cast<int>(part->opcode)).substr(0, part->first ? 2 : 0);
      to += part->data;
      if (!control && part->last) seen += std::exchange(message, {});
    }
    if (!reader.Error().empty()) break;
  }
  return seen + "|" + message + "|" + std::string(reader.Error());
}

}  // namespace
}  // namespace apimesh::websocket

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace apimesh::websocket;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  if (Read(input, size) != Read(input, 3)) std::abort();
  return 0;
}
