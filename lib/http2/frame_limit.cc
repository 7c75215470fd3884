#include "lib/http2/frame_limit.h"

#include <nghttp2/nghttp2.h>

namespace apimesh::http2 {
namespace {

constexpr std::size_t kFieldOverhead = 32;  // per header field, as RFC 9113 counts
constexpr std::size_t kUpdateEvery = 2048;  // bytes; Go's client sends two for every 4 KiB that it has read

bool HasContent(std::uint8_t type, std::uint8_t flags, std::size_t length) {
  switch (type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_CONTINUATION: return true;  // other limits apply: streams, CONTINUATION frames, header block
    case NGHTTP2_DATA: return length > 0 || (flags & NGHTTP2_FLAG_END_STREAM) != 0;
    default: return false;
  }
}

}  // namespace

bool FrameLimit::CountFrame(std::uint8_t type, std::uint8_t flags, std::size_t length) {
  if (HasContent(type, flags, length)) return true;
  if (type == NGHTTP2_WINDOW_UPDATE && window_bytes_ >= kUpdateEvery) {
    window_bytes_ -= kUpdateEvery;
    return true;
  }
  return frames_.Take(clock_.Steady());
}

bool FrameLimit::CountHeader(std::size_t bytes) {
  header_bytes_ += static_cast<std::uint32_t>(bytes + kFieldOverhead);
  return header_bytes_ <= header_block_bytes_;
}

}  // namespace apimesh::http2
