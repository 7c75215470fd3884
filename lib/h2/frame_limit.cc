#include "lib/h2/frame_limit.h"

#include <nghttp2/nghttp2.h>

namespace apimesh::h2 {
namespace {

constexpr std::size_t kHeaderOverhead = 32;  // of each header, as HTTP/2 itself counts them

bool HasContent(std::uint8_t type, std::uint8_t flags, std::size_t length) {
  switch (type) {
    case NGHTTP2_HEADERS:
    case NGHTTP2_CONTINUATION: return true;  // limited by the number of streams, by nghttp2 and by kHeaderBlockBytes
    case NGHTTP2_DATA: return length > 0 || (flags & NGHTTP2_FLAG_END_STREAM) != 0;
    default: return false;
  }
}

}  // namespace

bool FrameLimit::CountFrame(std::uint8_t type, std::uint8_t flags, std::size_t length) {
  return HasContent(type, flags, length) || frames_.Take(Clock::System().Steady());
}

bool FrameLimit::CountHeader(std::size_t bytes) {
  header_bytes_ += bytes + kHeaderOverhead;
  return header_bytes_ <= kHeaderBlockBytes;
}

}  // namespace apimesh::h2
