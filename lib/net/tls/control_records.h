#pragma once

#include <chrono>

#include "lib/base/token_bucket.h"

namespace apimesh::net {

/// Limits how many TLS records without application data a peer may send on one connection: handshake messages,
/// KeyUpdates, session tickets, alerts, attempts to renegotiate. Each of them costs this side far more than the peer,
/// and some require an answer. The limit is refilled with time, not with application data, so that a flood cannot be
/// hidden between requests.
class ControlRecordLimit {
 public:
  /// A handshake takes about ten records, or twenty with a large certificate chain.
  static constexpr int kDuringHandshake = 256;
  /// After the handshake: the maximum burst, refilled by one per kRefill. Clients change keys at most once in 2^24
  /// records.
  static constexpr int kBurst = 32;
  static constexpr std::chrono::seconds kRefill{1};

  /// Counts one record. Returns false if the limit is exceeded; the connection must then be closed.
  bool Count(SteadyTime now) {
    if (established_) return after_handshake_.Take(now);
    return handshake_records_++ < kDuringHandshake;
  }
  void HandshakeDone() { established_ = true; }

 private:
  int handshake_records_ = 0;
  bool established_ = false;
  TokenBucket after_handshake_{kBurst, kRefill};
};

}  // namespace apimesh::net
