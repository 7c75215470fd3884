#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"
#include "lib/mesh/delegate/delegate.h"
#include "lib/meta/errors/api_error.h"
#include "lib/meta/request/request_info.h"
#include "lib/meta/request/user.h"
#include "lib/tracing/span_ptr.h"

namespace apimesh::service {

/// A user with a fingerprint of all its fields, which is used in cache keys.
struct AuthenticatedUser {
  meta::UserInfo info;
  std::string fingerprint;
};
using UserPtr = std::shared_ptr<const AuthenticatedUser>;
UserPtr MakeUser(meta::UserInfo info);

/// The credentials of a request.
struct AuthenticationQuestion {
  mesh::Headers headers;  // only those that carry credentials or identity
  std::vector<std::string> certificates_der;
  std::string path;
  std::string remote_address;
  std::string audit_id;
  SteadyTime deadline = SteadyTime::max();
  std::vector<std::string> audiences = {};  // a token must be valid for one of them; none: those of the server
  tracing::SpanPtr span = nullptr;          // of the step that asks
};
struct AuthenticationAnswer {
  enum class Outcome { kUnavailable, kAuthenticated, kNoCredentials, kRefused };
  Outcome outcome = Outcome::kUnavailable;
  UserPtr user;  // set if kAuthenticated
  std::string reason;
  std::chrono::milliseconds cache_for{0};
  std::int64_t revision = 0;
  std::vector<std::string> audiences = {};  // the requested audiences for which the token is valid
};

/// A requirement of a field or label selector.
struct Requirement {
  std::string key, operation;
  std::vector<std::string> values;
};
struct AuthorizationQuestion {
  UserPtr user;
  meta::RequestInfo info;  // `path` is used for non-resource requests
  std::string audit_id;
  SteadyTime deadline = SteadyTime::max();
  std::vector<Requirement> fields = {}, labels = {};
  tracing::SpanPtr span = nullptr;  // of the step that asks
};
struct AuthorizationAnswer {
  enum class Verdict { kUnavailable, kAllow, kDeny };
  Verdict verdict = Verdict::kUnavailable;
  bool no_opinion = false;  // set with kDeny if no authorizer had an opinion
  std::string reason;
  std::string error;  // errors of authorizers that could not decide
  std::chrono::milliseconds cache_for{0};
  std::int64_t revision = 0;
};

/// What a user may do in a namespace.
struct AccessRules {
  struct Resource {
    std::vector<std::string> verbs, groups, resources, names;
  };
  struct NonResource {
    std::vector<std::string> verbs, paths;
  };
  std::vector<Resource> resources;
  std::vector<NonResource> non_resources;
  bool incomplete = false;
  std::string error;
};

/// The interface of authn-authz. If it is unreachable, answers are kUnavailable with the cause as reason. Thread-safe.
class Authority {
 public:
  virtual ~Authority() = default;
  virtual Task<AuthenticationAnswer> Authenticate(AuthenticationQuestion question) = 0;
  virtual Task<AuthorizationAnswer> Authorize(AuthorizationQuestion question) = 0;
  /// Authorizes several questions in one call. Answers have the order of the questions and are never served from a
  /// cache. The deadline of the first question applies to the call.
  virtual Task<std::vector<AuthorizationAnswer>> AuthorizeAll(std::vector<AuthorizationQuestion> questions);
  /// Returns an error (500) if authn-authz is unreachable.
  virtual Task<meta::Result<AccessRules>> Rules(meta::UserInfo user, std::string ns, SteadyTime deadline) = 0;
  /// Returns the metrics of authn-authz in the Prometheus text format, or "" if it is unreachable.
  virtual Task<std::string> Metrics() = 0;
  /// Sends a request of diagnosis (lib/service/diagnostics) to authn-authz. Returns 503 if it is unreachable.
  virtual Task<mesh::Response> Diagnose(mesh::Request request) = 0;
};
using AuthorityPtr = std::shared_ptr<Authority>;

/// The error of a call that authn-authz did not answer.
meta::ApiError AuthorityUnreachable(std::string_view cause);

/// Cached answers of the marked kinds are invalid if they are older than `revision`.
struct InvalidationNotice {
  std::int64_t revision = 0;
  bool authentication = false;
  bool authorization = false;
  std::chrono::milliseconds heartbeat{1000};
  bool loading = false;  // authn-authz has just started and has not loaded the state of the cluster yet
};
/// Receives each invalidation, and nullopt when the stream is lost.
using InvalidationFn = std::function<void(std::optional<InvalidationNotice>)>;

}  // namespace apimesh::service
