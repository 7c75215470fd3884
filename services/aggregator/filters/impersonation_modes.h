#pragma once

#include <memory>
#include <string>

#include "lib/meta/api_error.h"
#include "services/aggregator/auth/authority.h"

namespace apimesh::aggregator {

struct Impersonated {
  meta::UserInfo user;
  std::string mode;        // that allowed it, for metrics: "user-info", "legacy", …
  std::string constraint;  // the verb of that mode, for the audit log; "" for "legacy"
  std::vector<AuthorizationQuestion> permissions;  // all that it needed
};

/// Decides whether a user may act as another for one request. The modes of constrained impersonation come first, each
/// with a right to be that user ("impersonate:MODE") and a right to do this as them ("impersonate-on:MODE:VERB"); the
/// old right "impersonate", good for everything, comes last. Thread-safe.
class ImpersonationModes {
 public:
  virtual ~ImpersonationModes() = default;
  /// `request` is what is asked for, with its real verb. Forbidden with the text of the first mode that refused, or
  /// ServiceUnavailable if authn-authz can't be asked.
  virtual Task<meta::Result<Impersonated>> Check(AuthorizationQuestion request, meta::UserInfo wanted) = 0;
};
std::shared_ptr<ImpersonationModes> NewImpersonationModes(std::shared_ptr<Authority> authority);

}  // namespace apimesh::aggregator
