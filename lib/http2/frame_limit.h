#pragma once

#include <cstddef>
#include <cstdint>

#include "lib/base/token_bucket.h"
#include "lib/http2/limits.h"

namespace apimesh::http2 {

/// Enforces limits on one connection that nghttp2 does not enforce: the number of frames without content, and the size
/// of a header block. Such frames cost almost nothing to send, but the receiver must process each of them. Normal peers
/// stay far below the limit, although they update windows while they read, and Go's gRPC library sends a PING for
/// almost every message.
class FrameLimit {
 public:
  FrameLimit(const Limits& limits, const Clock& clock)
      : clock_(clock),
        frames_(limits.empty_frame_burst, limits.empty_frame_interval),
        header_block_bytes_(static_cast<std::uint32_t>(limits.header_block_bytes)) {}

  /// Counts a frame by its header. Returns false if the limit is exceeded; the connection must then be closed.
  bool CountFrame(std::uint8_t type, std::uint8_t flags, std::size_t length);
  /// Reports bytes of bodies that this side has sent: their receiver may send WINDOW_UPDATE frames for them.
  void SentData(std::size_t bytes) { window_bytes_ += bytes; }
  void BeginHeaders() { header_bytes_ = 0; }
  /// Counts one header field of `bytes` bytes. Returns false as CountFrame() does.
  bool CountHeader(std::size_t bytes);

 private:
  const Clock& clock_;
  TokenBucket frames_;
  std::size_t window_bytes_ = 0;  // sent, and not yet matched by a WINDOW_UPDATE
  const std::uint32_t header_block_bytes_;
  std::uint32_t header_bytes_ = 0;
};

}  // namespace apimesh::http2
