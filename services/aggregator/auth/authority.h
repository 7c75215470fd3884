#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/clock.h"
#include "lib/base/keyed_hash.h"
#include "lib/base/task.h"
#include "lib/http/server.h"
#include "lib/meta/request_info.h"
#include "lib/meta/user.h"

namespace apimesh::aggregator {

/// A user with a fingerprint that stands for all of it in cache keys.
struct AuthenticatedUser {
  meta::UserInfo info;
  std::string fingerprint;
};
using UserPtr = std::shared_ptr<const AuthenticatedUser>;
UserPtr MakeUser(meta::UserInfo info);

/// What a request shows to prove who it is from.
struct AuthenticationQuestion {
  http::Headers headers;  // only those that carry credentials or identity
  std::vector<std::string> certificates_der;
  std::string path;
  std::string remote_address;
  std::string audit_id;
  SteadyTime deadline = SteadyTime::max();
};
struct AuthenticationAnswer {
  enum class Outcome { kUnavailable, kAuthenticated, kNoCredentials, kRefused };
  Outcome outcome = Outcome::kUnavailable;
  UserPtr user;  // of kAuthenticated
  std::string reason;
  std::chrono::milliseconds cache_for{0};
  std::int64_t revision = 0;
};

struct AuthorizationQuestion {
  UserPtr user;
  meta::RequestInfo info;
  std::string audit_id;
  SteadyTime deadline = SteadyTime::max();
};
struct AuthorizationAnswer {
  enum class Verdict { kUnavailable, kAllow, kDeny };
  Verdict verdict = Verdict::kUnavailable;
  bool no_opinion = false;  // kDeny, because nobody had one
  std::string reason;
  std::string error;  // of authorizers that could not decide
  std::chrono::milliseconds cache_for{0};
  std::int64_t revision = 0;
};

/// A digest that stands for all that the answer depends on. Neither a credential nor a path of any length has to be
/// kept to recognise a question.
Digest KeyOf(const AuthenticationQuestion& question);
Digest KeyOf(const AuthorizationQuestion& question);

/// authn-authz as the edge sees it. Thread-safe.
class Authority {
 public:
  virtual ~Authority() = default;
  virtual Task<AuthenticationAnswer> Authenticate(AuthenticationQuestion question) = 0;
  virtual Task<AuthorizationAnswer> Authorize(AuthorizationQuestion question) = 0;
  /// Several questions in one call, answered in the same order and never from memory. The deadline of the first counts.
  virtual Task<std::vector<AuthorizationAnswer>> AuthorizeAll(std::vector<AuthorizationQuestion> questions);
  /// What authn-authz counts, in Prometheus' text format; "" if it can't be asked.
  virtual Task<std::string> Metrics() = 0;
};

/// Answers given before `revision` are void for what is marked.
struct InvalidationNotice {
  std::int64_t revision = 0;
  bool authentication = false;
  bool authorization = false;
  std::chrono::milliseconds heartbeat{1000};
  bool loading = false;  // authn-authz has just started and does not know the state of the cluster yet
};
/// Nullopt: the stream is lost.
using InvalidationFn = std::function<void(std::optional<InvalidationNotice>)>;

}  // namespace apimesh::aggregator
