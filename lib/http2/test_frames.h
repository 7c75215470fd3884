#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <nghttp2/nghttp2.h>

/// HTTP/2 frames for tests that send any bytes.
namespace apimesh::http2 {

inline std::string Frame(std::uint8_t type, std::uint8_t flags, std::uint32_t stream, std::string_view payload) {
  std::string frame;
  for (const int shift : {16, 8, 0}) frame += static_cast<char>(payload.size() >> shift);
  frame += static_cast<char>(type);
  frame += static_cast<char>(flags);
  for (const int shift : {24, 16, 8, 0}) frame += static_cast<char>(stream >> shift);
  return frame.append(payload);
}

/// The first bytes of a client.
inline const std::string kPreface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + Frame(NGHTTP2_SETTINGS, 0, 0, "");
inline constexpr std::string_view kGet = "\x82\x86\x84";  // the header block of GET / over http
inline constexpr std::uint8_t kEndHeaders = NGHTTP2_FLAG_END_HEADERS;
inline constexpr std::uint8_t kEndStream = NGHTTP2_FLAG_END_STREAM;

}  // namespace apimesh::http2
