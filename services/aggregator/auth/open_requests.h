#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "services/aggregator/auth/authority.h"

namespace apimesh::aggregator {

/// The basis on which a request was admitted: its credentials, the user that they authenticate, and every permission
/// that was checked.
struct Grounds {
  AuthenticationQuestion credentials;
  UserPtr user;
  std::vector<AuthorizationQuestion> permissions;
};

/// The long-running requests of this process (watches, logs, exec …), indexed by the credentials and permissions on
/// which they were admitted, so that they can be ended when these are revoked. Requests with the same credentials or
/// permission share one Fact, which is checked once for all of them. Thread-safe.
class OpenRequests {
 public:
  struct Entry;
  /// Either the credentials of a user or one permission.
  struct Fact {
    AuthenticationQuestion credentials;
    UserPtr user;  // the user of the credentials; nullptr if this is a permission
    AuthorizationQuestion permission;
    Digest key;
    SteadyTime confirmed{};  // time of the last successful check; guarded by the mutex, as is `dependents`
    std::list<Entry*> dependents;
  };
  using FactPtr = std::shared_ptr<Fact>;
  enum class Kind { kCredentials, kPermissions };

  /// Registers a request until the returned handle is destroyed. `end` runs at most once, from any thread, and never
  /// after the handle is destroyed. It must neither block nor destroy the handle.
  std::shared_ptr<void> Add(Grounds grounds, std::function<void()> end, SteadyTime now);

  /// Returns the facts whose last confirmation is older than `time`.
  std::vector<FactPtr> ConfirmedBefore(Kind kind, SteadyTime time) const;
  void Confirm(const FactPtr& fact, SteadyTime time);
  /// Ends all requests that depend on the fact.
  void Fail(const FactPtr& fact);
  /// Ends the requests that depend on a fact whose last confirmation is older than `time`. Returns the number of such
  /// facts.
  std::size_t FailConfirmedBefore(SteadyTime time);

  std::size_t Requests() const;

 private:
  using Facts = std::unordered_map<Digest, FactPtr, DigestHash>;
  struct Registry {
    mutable std::mutex mutex;
    Facts facts[2];  // indexed by Kind; guarded by mutex
    std::size_t requests = 0;

    void Remove(Entry& entry);
    void Fail(const FactPtr& fact);
  };
  static Kind KindOf(const Fact& fact) { return fact.user ? Kind::kCredentials : Kind::kPermissions; }

  // Shared with the handles, which may outlive this object.
  const std::shared_ptr<Registry> registry_ = std::make_shared<Registry>();
};

}  // namespace apimesh::aggregator
