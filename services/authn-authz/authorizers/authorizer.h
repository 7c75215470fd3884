#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/async/task.h"
#include "lib/base/clock.h"
#include "lib/meta/request/user.h"
#include "lib/meta/request/verb.h"

namespace apimesh::authn_authz {

struct SelectorRequirement {
  std::string key;
  std::string op;  // fields: "=" or "!="; labels: "In", "NotIn", "Exists", "DoesNotExist"
  std::vector<std::string> values;
};

/// The attributes of one request that is to be authorized.
struct Attributes {
  meta::UserInfo user;
  bool is_resource_request = false;
  meta::RequestVerb verb;
  std::string ns;
  std::string api_group, api_version, resource, subresource, name;
  std::string path;  // of a non-resource request
  std::vector<SelectorRequirement> field_requirements, label_requirements;

  bool IsReadOnly() const { return meta::IsReadOnly(verb); }
};
using AttributesPtr = std::shared_ptr<const Attributes>;

struct Decision {
  enum class Verdict { kAllow, kDeny, kNoOpinion };
  Verdict verdict = Verdict::kNoOpinion;
  std::string reason;
  std::string error;                 // evaluation error, if any
  Duration reuse = Duration::max();  // how long the answer may be cached unless it is invalidated

  static Decision Allow(std::string reason = "") { return {Verdict::kAllow, std::move(reason), {}}; }
  static Decision Deny(std::string reason) { return {Verdict::kDeny, std::move(reason), {}}; }
  static Decision NoOpinion(std::string reason = "") { return {Verdict::kNoOpinion, std::move(reason), {}}; }
};

struct ResourceRule {
  std::vector<std::string> verbs, api_groups, resources, resource_names;
};
struct NonResourceRule {
  std::vector<std::string> verbs, paths;
};
/// The permissions of a user in a namespace, as far as the authorizers can list them.
struct RuleList {
  std::vector<ResourceRule> resource_rules;
  std::vector<NonResourceRule> non_resource_rules;
  bool incomplete = false;
  std::vector<std::string> errors;
};

/// Thread-safe.
class Authorizer {
 public:
  virtual ~Authorizer() = default;
  /// Returns the decision if that is possible without waiting. Otherwise returns nullopt, and the caller must call
  /// Decide().
  virtual std::optional<Decision> DecideNow(const Attributes& attributes) = 0;
  /// Must be called only after DecideNow() returned nullopt.
  virtual Task<Decision> Decide(AttributesPtr attributes);
  virtual void AddRules(const meta::UserInfo& user, const std::string& ns, RuleList& rules) = 0;
};

}  // namespace apimesh::authn_authz
