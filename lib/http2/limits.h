#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace apimesh::http2 {

/// All limits of a session. They apply to every peer, whether this side is the client or the server. A peer that
/// exceeds one of them loses its connection, unless the comment says otherwise.
struct Limits {
  // ---- streams and windows, which HTTP/2 itself enforces
  std::uint32_t concurrent_streams = 1u << 20;
  /// Bytes that the peer may send on a stream before this side has consumed them.
  std::uint32_t stream_window = 384 << 10;
  /// As large as possible, so that a stream is limited only by its own window, not by other streams.
  std::int32_t connection_window = 0x7fffffff;
  /// The largest frame that is accepted, and the largest DATA frame that is sent if the peer accepts it.
  std::uint32_t frame_bytes = 128 << 10;

  // ---- headers
  /// Names and values of one header block after decompression, plus 32 bytes per field as in RFC 9113. The HTTP
  /// server responds with 431 at half of this.
  std::size_t header_block_bytes = 2 << 20;
  std::size_t continuation_frames = 8;

  // ---- floods
  /// Streams that a client resets. The default of nghttp2 (1,000 at once, 33 per second) is too low: a client resets
  /// the call after each list that it reads from shared memory, at most about 10,000 times per second and connection.
  std::uint64_t reset_burst = 20'000, resets_per_second = 20'000;
  /// Frames without content: PING, SETTINGS, PRIORITY, RST_STREAM, WINDOW_UPDATE and empty DATA.
  int empty_frame_burst = 50'000;
  std::chrono::microseconds empty_frame_interval{20};  // 50,000 per second
  /// Entries of one SETTINGS frame.
  std::size_t settings_entries = 32;
  /// Acknowledgements of PING and SETTINGS that wait because the peer does not read.
  std::size_t queued_acknowledgements = 1'000;
  /// All frames that wait for the same reason. DATA frames are not counted; windows limit them.
  std::size_t queued_frames = 100'000;

  // ---- bytes that this side has queued on a stream; see Stream::AboveHighWatermark()
  std::size_t high_watermark = 256 << 10;
  std::size_t low_watermark = 64 << 10;
};

}  // namespace apimesh::http2
