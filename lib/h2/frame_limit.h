#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "lib/base/token_bucket.h"

namespace apimesh::h2 {

/// Limits how many frames without content a peer may send on one connection, whatever it does meanwhile: PING, SETTINGS, PRIORITY,
/// RST_STREAM, WINDOW_UPDATE, empty DATA. They cost almost nothing to send, and each of them is work for this side. Peers
/// update windows while they read, and Go's gRPC sends a PING for almost every message; both stay far below the limit. Resets
/// by a client have a lower limit of their own (session.cc).
class FrameLimit {
 public:
  static constexpr int kBurst = 50'000;
  static constexpr std::chrono::microseconds kInterval{20};  // 50,000 per second
  /// Names and values of one block of headers, which compression makes out of far fewer bytes. An HTTP request is refused (431)
  /// at half of this.
  static constexpr std::size_t kHeaderBlockBytes = 2 << 20;

  /// Counts a frame by its header. False: the limit is exceeded, and the connection has to be closed.
  bool CountFrame(std::uint8_t type, std::uint8_t flags, std::size_t length);
  void BeginHeaders() { header_bytes_ = 0; }
  bool CountHeader(std::size_t bytes);

 private:
  TokenBucket frames_{kBurst, kInterval};
  std::size_t header_bytes_ = 0;
};

}  // namespace apimesh::h2
