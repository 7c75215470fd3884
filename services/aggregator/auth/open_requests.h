#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "services/aggregator/auth/authority.h"

namespace apimesh::aggregator {

/// Why a request was let in: the credentials that it showed, the user that they prove, and every permission that it
/// needed.
struct Grounds {
  AuthenticationQuestion credentials;
  UserPtr user;
  std::vector<AuthorizationQuestion> permissions;
};

/// The long-running requests of this process (watches, logs, exec …) by what they were let in for, so that they can be
/// ended when that no longer holds. Requests with the same credentials or the same permission share one Fact, which is
/// asked for once for all of them. Thread-safe.
class OpenRequests {
 public:
  struct Entry;
  /// Credentials that prove a user, or one permission.
  struct Fact {
    AuthenticationQuestion credentials;
    UserPtr user;  // whom the credentials prove; nullptr: this is a permission
    AuthorizationQuestion permission;
    Digest key;
    SteadyTime confirmed{};         // when it was last known to hold; guarded by the mutex, as `dependents`
    std::list<Entry*> dependents;
  };
  using FactPtr = std::shared_ptr<Fact>;
  enum class Kind { kCredentials, kPermissions };

  /// `end` runs at most once, from any thread, and not after the handle is gone. It must neither block nor destroy the
  /// handle.
  std::shared_ptr<void> Add(Grounds grounds, std::function<void()> end, SteadyTime now);

  /// The facts that were last confirmed before `time`.
  std::vector<FactPtr> ConfirmedBefore(Kind kind, SteadyTime time) const;
  void Confirm(const FactPtr& fact, SteadyTime time);
  /// Ends all requests that depend on the fact.
  void Fail(const FactPtr& fact);
  /// Ends the requests that depend on a fact that nobody could confirm since `time`. Returns the number of such facts.
  std::size_t FailConfirmedBefore(SteadyTime time);

  std::size_t Requests() const;

 private:
  using Facts = std::unordered_map<Digest, FactPtr, DigestHash>;
  struct Registry {
    mutable std::mutex mutex;
    Facts facts[2];  // by Kind; guarded by mutex
    std::size_t requests = 0;

    void Remove(Entry& entry);
    void Fail(const FactPtr& fact);
  };
  static Kind KindOf(const Fact& fact) { return fact.user ? Kind::kCredentials : Kind::kPermissions; }

  // Shared with the handles, which may outlive this object.
  const std::shared_ptr<Registry> registry_ = std::make_shared<Registry>();
};

}  // namespace apimesh::aggregator
