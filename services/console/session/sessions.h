#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "lib/base/clock.h"
#include "lib/base/hash/keyed_hash.h"
#include "services/console/cluster/identity.h"

namespace apimesh::console {

/// The sessions of browsers. A session is found by two secrets that only its page has: a cookie, and a key that the
/// page keeps in the storage of its origin. The browser sends cookies to all ports of a host, so the cookie alone would
/// allow another process of the machine to use the session. Thread-safe.
class Sessions {
 public:
  struct Ticket {
    std::string cookie, key;
  };
  struct Found {
    IdentityPtr identity;  // nullptr: there is no such session
    SteadyTime expires{};
  };

  /// If there are `most` sessions, a new one replaces the one that was not used for the longest time.
  Sessions(std::size_t most, Duration lifetime, const Clock& clock) : most_(most), lifetime_(lifetime), clock_(clock) {}

  Ticket Add(IdentityPtr identity);
  Found Find(std::string_view cookie, std::string_view key);
  void Remove(std::string_view cookie);
  std::size_t Count() const;

 private:
  struct Session {
    Digest key;
    IdentityPtr identity;
    SteadyTime expires, used;
  };
  void MakeRoom(SteadyTime now);

  const std::size_t most_;
  const Duration lifetime_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::unordered_map<Digest, Session, DigestHash> sessions_;  // by the digest of the cookie; guarded by mutex_
};

}  // namespace apimesh::console
