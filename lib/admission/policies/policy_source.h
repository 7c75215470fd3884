#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "lib/admission/matching/criteria.h"
#include "lib/admission/matching/rule_index.h"
#include "lib/admission/objects/objects.h"

namespace apimesh::admission::policies {

/// The programs of a policy. Each plugin has its own.
class CompiledPolicy {
 public:
  virtual ~CompiledPolicy() = default;
};
using CompiledPolicyPtr = std::shared_ptr<const CompiledPolicy>;
using Compile = std::function<CompiledPolicyPtr(const meta::Object& policy)>;

/// A binding of a policy. The pointers refer to `object`.
struct Binding {
  std::string name;
  ObjectPtr object;
  std::optional<matching::Criteria> criteria;     // nullopt: the binding selects every request that the policy does
  const meta::json::object* param_ref = nullptr;  // nullptr: none
};

struct ParamKind {
  std::string api_version, kind;
};

/// A policy with its bindings, in the order of their names. A policy without bindings has no effect and is omitted.
struct Policy {
  std::string name;
  ObjectPtr object;
  matching::Criteria criteria;
  std::optional<ParamKind> param_kind;
  bool ignores_failures = false;
  CompiledPolicyPtr compiled;
  std::vector<Binding> bindings;
};

/// All policies in the order of their names. Immutable.
struct PolicySet {
  std::vector<std::shared_ptr<const Policy>> policies;
  matching::RuleIndex index;  // items are positions in `policies`
};
using PolicySetPtr = std::shared_ptr<const PolicySet>;

/// Follows the policies of a kind and their bindings. A policy is compiled when it is created and when its spec
/// changes. Thread-safe.
class PolicySource {
 public:
  struct Resources {
    meta::Gvr policies, bindings;
  };
  /// If `objects` is nullptr, the source is never ready.
  PolicySource(ObjectsPtr objects, const Resources& resources, Compile compile);

  /// Returns whether all policies and bindings that existed at the start are known.
  bool Ready() const;
  /// Waits until the source is ready, at most 10 s. Returns whether it is.
  Task<bool> WaitUntilReady(meta::RequestContext ctx) const;
  /// Returns the current policies.
  PolicySetPtr Current() const;
  /// Returns false if no policy can match the request, which needs no coroutine to be known.
  bool MayMatch(const Attributes& attributes) const;

 private:
  struct Known {
    ObjectPtr object;
    CompiledPolicyPtr compiled;
  };
  void PolicyChanged(const Change& change);
  void BindingChanged(const Change& change);
  PolicySetPtr Build() const;

  const ObjectsPtr objects_;
  const Compile compile_;
  mutable std::mutex mutex_;
  std::map<std::string, Known, std::less<>> policies_;      // guarded by mutex_
  std::map<std::string, ObjectPtr, std::less<>> bindings_;  // guarded by mutex_
  mutable PolicySetPtr current_;                            // guarded by mutex_; nullptr: must be built
  std::unique_ptr<Subscription> policy_changes_, binding_changes_;
  mutable std::atomic<bool> ready_ = false;  // once true, it stays true
};

/// Returns whether policies apply to the resource of a request. They do not apply to policies and bindings themselves,
/// because a wrong one could not be repaired then, and not to reviews of users and their rights.
bool IsSubjectToPolicies(const Attributes& attributes);

}  // namespace apimesh::admission::policies
