#pragma once

#include <cstdint>
#include <string>
#include <string_view>

/// Encodes frames and appends them to `out`.
namespace apimesh::spdy {

/// Types of control frames.
enum class Type : std::uint16_t {
  kSynStream = 1,
  kSynReply = 2,
  kRstStream = 3,
  kSettings = 4,
  kPing = 6,
  kGoAway = 7,
  kHeaders = 8,
  kWindowUpdate = 9
};
inline constexpr std::uint8_t kFin = 1;  // the flag of the last frame of a stream
inline constexpr std::uint32_t kMaxLength = (1 << 24) - 1;
/// Statuses of RST_STREAM.
inline constexpr std::uint32_t kRefusedStream = 3, kCancel = 5;

/// `block` was made by HeaderCompressor.
void AppendSynStream(std::string& out, std::uint32_t stream, std::string_view block);
/// `data` has at most kMaxLength bytes.
void AppendData(std::string& out, std::uint32_t stream, std::string_view data, bool fin);
void AppendRstStream(std::string& out, std::uint32_t stream, std::uint32_t status);
void AppendPing(std::string& out, std::uint32_t id);
void AppendGoAway(std::string& out, std::uint32_t last_stream);
/// Any control frame; used by tests.
void AppendControl(std::string& out, Type type, std::uint8_t flags, std::string_view payload);

}  // namespace apimesh::spdy
