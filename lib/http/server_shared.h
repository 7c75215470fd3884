#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

#include "lib/http/server.h"

namespace apimesh::http {

/// The state that all connections of a server share.
struct ServerShared {
  explicit ServerShared(const Clock& given_clock) : clock(given_clock) {}

  const Clock& clock;
  Limits limits;
  Handler handler;
  std::atomic<bool> draining{false};
  std::atomic<int> connections{0};
  std::atomic<std::size_t> open{0};        // those whose socket is open
  std::atomic<std::size_t> head_bytes{0};  // of incomplete heads, and of large ones in progress
  std::function<void()> make_room;         // closes some connections that serve no request; may be called from any
                                           // thread
};

}  // namespace apimesh::http
