#include "lib/websocket/frame_writer.h"

namespace apimesh::websocket {

std::string EncodeFrame(Opcode opcode, std::string_view first, std::string_view second) {
  const std::uint64_t size = first.size() + second.size();
  std::string frame;
  frame.reserve(10 + size);
  frame += static_cast<char>(0x80 | static_cast<std::uint8_t>(opcode));  // the only frame of its message
  int length_bytes = 0;
  if (size < 126) {
    frame += static_cast<char>(size);
  } else {
    length_bytes = size <= 0xffff ? 2 : 8;
    frame += static_cast<char>(length_bytes == 2 ? 126 : 127);
  }
  for (int shift = 8 * (length_bytes - 1); shift >= 0; shift -= 8) frame += static_cast<char>(size >> shift & 0xff);
  frame += first;
  frame += second;
  return frame;
}

std::string EncodeClose(std::uint16_t code) {
  const char bytes[] = {static_cast<char>(code >> 8), static_cast<char>(code & 0xff)};
  return EncodeFrame(Opcode::kClose, std::string_view(bytes, sizeof(bytes)));
}

}  // namespace apimesh::websocket
