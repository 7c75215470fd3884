#pragma once

#include <chrono>

#include "lib/base/token_bucket.h"

namespace apimesh::http {

/// Limits how many TLS records without application data a peer may send on one connection: handshake messages, KeyUpdates, session
/// tickets, alerts, attempts to renegotiate. Each of them costs this side far more than it costs the peer, and some make it write an
/// answer. Time refills the limit; application data does not, so that a flood can't be hidden between requests.
class ControlRecordLimit {
 public:
  /// A handshake takes about ten records, or twenty with a large certificate chain.
  static constexpr int kDuringHandshake = 256;
  /// Afterwards: so many at once, and one more per kRefill. Clients change keys once in 2^24 records, if ever.
  static constexpr int kBurst = 32;
  static constexpr std::chrono::seconds kRefill{1};

  /// Counts one record. False: the limit is exceeded, and the connection has to be closed.
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

}  // namespace apimesh::http
