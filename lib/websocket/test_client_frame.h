#pragma once

#include <string>
#include <string_view>

#include "lib/websocket/frame_writer.h"

namespace apimesh::websocket {

/// Encodes a frame as a client does: masked. `final`: the message ends with it.
inline std::string ClientFrame(Opcode opcode, std::string_view payload, bool final = true) {
  std::string frame = EncodeFrame(opcode, payload);
  const std::size_t head = frame.size() - payload.size();
  if (!final) frame[0] = static_cast<char>(frame[0] & 0x7f);
  frame[1] = static_cast<char>(frame[1] | 0x80);
  constexpr std::string_view kMask = "\x12\x34\x56\x78";
  for (std::size_t i = 0; i < payload.size(); ++i) frame[head + i] = static_cast<char>(payload[i] ^ kMask[i % 4]);
  return frame.insert(head, kMask);
}

}  // namespace apimesh::websocket
