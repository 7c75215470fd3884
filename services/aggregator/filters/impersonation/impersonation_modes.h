#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lib/base/hash/keyed_hash.h"
#include "lib/meta/errors/api_error.h"
#include "services/aggregator/auth/authority.h"

namespace apimesh::aggregator {

struct Impersonated {
  meta::UserInfo user;
  std::string mode;                                // the mode that allowed it, for metrics: "user-info", "legacy", …
  std::string constraint;                          // the verb of that mode, for the audit log; "" for "legacy"
  std::vector<AuthorizationQuestion> permissions;  // all permissions that were needed
};

/// Decides whether a user may impersonate another user for one request. The modes of constrained impersonation are
/// tried first. Each needs the permission to be that user ("impersonate:MODE") and the permission to perform this
/// request as that user ("impersonate-on:MODE:VERB"). The legacy permission "impersonate", which covers every request,
/// is tried last. The mode that last succeeded for a requestor is tried before all others. Thread-safe.
class ImpersonationModes final {
 public:
  /// Without `constrained`, only the legacy permission counts.
  explicit ImpersonationModes(std::shared_ptr<Authority> authority, bool constrained = true)
      : authority_(std::move(authority)), constrained_(constrained) {}
  /// `request` is the client's request with its original verb. Returns Forbidden with the message of the first mode
  /// that refused, or ServiceUnavailable if authn-authz is unreachable.
  Task<meta::Result<Impersonated>> Check(AuthorizationQuestion request, meta::UserInfo wanted);

 private:
  std::optional<std::size_t> LastOf(const Digest& requestor);
  void Remember(const Digest& requestor, std::size_t mode);

  const std::shared_ptr<Authority> authority_;
  const bool constrained_;
  std::mutex mutex_;
  // The mode that last succeeded for a requestor. It is tried first, because most requestors use only one. Guarded by
  // mutex_.
  std::unordered_map<Digest, std::size_t, DigestHash> last_;
};

}  // namespace apimesh::aggregator
