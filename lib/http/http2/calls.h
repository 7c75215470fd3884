#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_set>

#include "lib/http/server_shared.h"
#include "lib/http2/limits.h"
#include "lib/net/peer.h"

namespace apimesh::http {

class Http2Call;

/// The requests of one HTTP/2 connection, and the limits that apply to all of them together. It is used on the
/// connection's thread. Each call keeps it alive, also after its stream has ended.
class Http2Calls {
 public:
  /// `owner` lives as long as any call; it may be nullptr.
  Http2Calls(std::shared_ptr<ServerShared> shared, std::shared_ptr<const net::Peer> peer, std::shared_ptr<void> owner)
      : shared_(std::move(shared)), peer_(std::move(peer)), owner_(std::move(owner)) {}
  ~Http2Calls() { HoldHeads(0); }
  Http2Calls(const Http2Calls&) = delete;

  ServerShared& Shared() const { return *shared_; }
  const Limits& GetLimits() const { return shared_->limits; }
  const std::shared_ptr<const net::Peer>& Peer() const { return peer_; }

  /// Asks the client to use another connection for further requests.
  std::function<void()> go_away = [] {};

  void Add(Http2Call& call) { calls_.insert(&call); }
  void Remove(Http2Call& call) { calls_.erase(&call); }
  /// Whether a request is being served, or its head is incomplete.
  bool Empty() const { return calls_.empty(); }
  /// Whether more requests are being served than a client can have open. Those that it has reset still run.
  bool TooMany() const {
    return !GetLimits().http2_from_proxy && calls_.size() > kMostPerStream * std::size_t{GetLimits().http2_streams};
  }

  /// Accounts for the memory of heads that are not small. Returns false if all heads of the server use too much.
  bool HoldHead(std::size_t bytes) { return HoldHeads(head_bytes_ + bytes); }
  void ReleaseHead(std::size_t bytes) { HoldHeads(head_bytes_ - bytes); }
  /// Takes memory for a small body, which needs no share of Limits::bodies. Returns false if the small bodies of this
  /// connection use too much already.
  bool TakeSmallBody(std::size_t bytes);
  void ReturnSmallBody(std::size_t bytes) { small_body_bytes_ -= bytes; }

  /// Must be called from time to time. Resets requests whose client does not read their response, or does not stop to
  /// send a body that is no longer needed. Returns false if the connection must be closed.
  bool Check(SteadyTime now);

 private:
  static constexpr std::size_t kMostPerStream = 4;
  bool HoldHeads(std::size_t bytes);

  const std::shared_ptr<ServerShared> shared_;
  const std::shared_ptr<const net::Peer> peer_;
  const std::shared_ptr<void> owner_;
  std::unordered_set<Http2Call*> calls_;
  std::size_t head_bytes_ = 0;
  std::size_t small_body_bytes_ = 0;
};

/// The limits of sessions with clients that are not part of the mesh.
http2::Limits ClientHttp2Limits(const Limits& limits);

}  // namespace apimesh::http
