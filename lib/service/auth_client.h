#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lib/base/task.h"
#include "lib/meta/api_error.h"
#include "lib/meta/request_info.h"
#include "lib/meta/user.h"
#include "lib/rpc/delegate.h"

namespace apimesh::service {

struct TokenIdentity {
  bool authenticated = false;
  meta::UserInfo user;
  std::vector<std::string> audiences;
  std::string error;
};
struct Requirement {
  std::string key, operation;
  std::vector<std::string> values;
};
struct AccessQuestion {
  meta::UserInfo user;
  meta::RequestInfo info;  // `path` counts where it is no resource request
  std::vector<Requirement> fields, labels;
};
struct AccessDecision {
  bool allowed = false, denied = false;
  std::string reason, error;
};
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

/// What authn-authz knows, asked over gRPC. An error (500) if it can't be reached. Thread-safe.
class AuthClient {
 public:
  virtual ~AuthClient() = default;
  virtual Task<meta::Result<TokenIdentity>> ReviewToken(std::string token, std::vector<std::string> audiences, SteadyTime deadline) = 0;
  virtual Task<meta::Result<AccessDecision>> Authorize(AccessQuestion question, SteadyTime deadline) = 0;
  virtual Task<meta::Result<AccessRules>> Rules(meta::UserInfo user, std::string ns, SteadyTime deadline) = 0;
};
using AuthClientPtr = std::shared_ptr<AuthClient>;
AuthClientPtr NewAuthClient(const rpc::Endpoint& endpoint);

}  // namespace apimesh::service
