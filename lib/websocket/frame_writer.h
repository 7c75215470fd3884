#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Encodes the frames of a server, which are not masked.
namespace apimesh::websocket {

enum class Opcode : std::uint8_t { kContinuation = 0, kText = 1, kBinary = 2, kClose = 8, kPing = 9, kPong = 10 };

/// Codes of a close frame.
inline constexpr std::uint16_t kNormalClosure = 1000, kProtocolError = 1002;

/// Returns a complete message, or a control frame, with the payload `first` + `second`.
std::string EncodeFrame(Opcode opcode, std::string_view first, std::string_view second = {});
std::string EncodeClose(std::uint16_t code);

}  // namespace apimesh::websocket
