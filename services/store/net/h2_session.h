#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "services/store/net/call.h"

namespace apimesh::store {

/// gRPC over one HTTP/2 connection, bytes in and bytes out; knows no socket.
class H2Session {
 public:
  /// `wants_flush` is called whenever there may be something new to write.
  H2Session(const Routes& routes, std::function<void()> wants_flush);
  ~H2Session();
  H2Session(const H2Session&) = delete;
  H2Session& operator=(const H2Session&) = delete;

  /// False: the peer broke the protocol; close.
  bool Receive(std::string_view bytes);
  /// Appends frames to `out` until nothing is left or `out` is large. False: broken, close.
  bool Fill(std::string& out);
  /// Tells streams that their peer has caught up. Call after a successful write.
  void NotifyDrained();
  bool WantsWrite() const;
  /// Nothing more to read or write: close.
  bool Finished() const;
  /// Graceful end: no new calls; the ones that run may finish.
  void GoAway();

  class Impl;

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace apimesh::store
