#pragma once

#include <cstddef>

namespace apimesh::spdy {

/// Limits of what a session accepts from its peer. A peer that exceeds one of them ends the session.
struct Limits {
  std::size_t control_bytes = 64 << 10;  // of a control frame
  std::size_t header_bytes = 128 << 10;  // of the decompressed headers of a frame
  std::size_t header_fields = 1000;
  std::size_t reply_bytes = 16 << 10;  // of replies to the peer that wait to be sent
};

}  // namespace apimesh::spdy
