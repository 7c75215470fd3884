#include "lib/admission/policies/policy_source.h"

#include <algorithm>

#include "lib/admission/fields.h"
#include "lib/base/async/wakeup.h"

namespace apimesh::admission::policies {
namespace {

constexpr int kReadyChecks = 200;
constexpr std::chrono::milliseconds kReadyInterval{50};

Binding ReadBinding(const ObjectPtr& object) {
  Binding binding{
      .name = std::string(object->Name()), .object = object, .criteria = std::nullopt, .param_ref = nullptr};
  const json::object& spec = SpecOf(*object);
  if (Has(spec, "matchResources")) binding.criteria = matching::Criteria::OfPolicy(ObjectAt(spec, "matchResources"));
  if (Has(spec, "paramRef")) binding.param_ref = &ObjectAt(spec, "paramRef");
  return binding;
}

std::shared_ptr<Policy> ReadPolicy(const ObjectPtr& object, const CompiledPolicyPtr& compiled) {
  const json::object& spec = SpecOf(*object);
  auto policy =
      std::make_shared<Policy>(Policy{.name = std::string(object->Name()),
                                      .object = object,
                                      .criteria = matching::Criteria::OfPolicy(ObjectAt(spec, "matchConstraints")),
                                      .param_kind = std::nullopt,
                                      .ignores_failures = meta::FindString(spec, "failurePolicy") == "Ignore",
                                      .compiled = compiled,
                                      .bindings = {}});
  if (Has(spec, "paramKind")) {
    const json::object& kind = ObjectAt(spec, "paramKind");
    policy->param_kind =
        ParamKind{std::string(meta::FindString(kind, "apiVersion")), std::string(meta::FindString(kind, "kind"))};
  }
  return policy;
}

}  // namespace

PolicySource::PolicySource(ObjectsPtr objects, const Resources& resources, Compile compile)
    : objects_(std::move(objects)), compile_(std::move(compile)) {
  if (!objects_) return;
  policy_changes_ = objects_->Subscribe(resources.policies, [this](const Change& change) { PolicyChanged(change); });
  binding_changes_ = objects_->Subscribe(resources.bindings, [this](const Change& change) { BindingChanged(change); });
}

bool PolicySource::Ready() const {
  if (ready_) return true;
  if (!policy_changes_ || !binding_changes_ || !policy_changes_->Synced() || !binding_changes_->Synced()) return false;
  ready_ = true;
  return true;
}

Task<bool> PolicySource::WaitUntilReady(meta::RequestContext ctx) const {
  if (!objects_) co_return false;
  for (int i = 0; i < kReadyChecks; ++i) {
    if (Ready()) co_return true;
    if (ctx.Abandoned()) co_return false;
    co_await SleepFor(kReadyInterval);
  }
  co_return Ready();
}

void PolicySource::PolicyChanged(const Change& change) {
  const std::string name(change.object->Name());
  CompiledPolicyPtr compiled;
  if (change.type == Change::Type::kSet) {
    const std::unique_lock lock(mutex_);
    const auto known = policies_.find(name);
    // The status of a policy changes without its spec.
    if (known != policies_.end() && known->second.object->Uid() == change.object->Uid() &&
        known->second.object->Generation() == change.object->Generation()) {
      compiled = known->second.compiled;
    }
  }
  if (change.type == Change::Type::kSet && !compiled) compiled = compile_(*change.object);
  const std::lock_guard lock(mutex_);
  current_ = nullptr;
  if (change.type == Change::Type::kSet) {
    policies_[name] = {change.object, std::move(compiled)};
  } else {
    policies_.erase(name);
  }
}

void PolicySource::BindingChanged(const Change& change) {
  const std::lock_guard lock(mutex_);
  current_ = nullptr;
  const std::string name(change.object->Name());
  if (change.type == Change::Type::kSet) {
    bindings_[name] = change.object;
  } else {
    bindings_.erase(name);
  }
}

PolicySetPtr PolicySource::Build() const {
  std::map<std::string, std::shared_ptr<Policy>, std::less<>> used;
  for (const auto& [name, object] : bindings_) {
    const std::string_view policy_name = meta::FindString(SpecOf(*object), "policyName");
    const auto known = policies_.find(policy_name);
    if (known == policies_.end()) continue;
    std::shared_ptr<Policy>& policy = used[known->first];
    if (!policy) policy = ReadPolicy(known->second.object, known->second.compiled);
    policy->bindings.push_back(ReadBinding(object));
  }
  auto set = std::make_shared<PolicySet>();
  for (auto& [name, policy] : used) {
    set->index.Add(static_cast<matching::RuleIndex::Item>(set->policies.size()), policy->criteria);
    set->policies.push_back(std::move(policy));
  }
  return set;
}

PolicySetPtr PolicySource::Current() const {
  const std::lock_guard lock(mutex_);
  if (!current_) current_ = Build();
  return current_;
}

bool PolicySource::MayMatch(const Attributes& attributes) const { return !Ready() || Current()->index.Any(attributes); }

bool IsSubjectToPolicies(const Attributes& attributes) {
  static constexpr std::string_view kPolicies[] = {"validatingadmissionpolicies", "validatingadmissionpolicybindings",
                                                   "mutatingadmissionpolicies", "mutatingadmissionpolicybindings"};
  static constexpr std::string_view kAuthentication[] = {"selfsubjectreviews", "tokenreviews"};
  static constexpr std::string_view kAuthorization[] = {"localsubjectaccessreviews", "selfsubjectaccessreviews",
                                                        "selfsubjectrulesreviews", "subjectaccessreviews"};
  const auto in = [&attributes](const auto& names) {
    return std::find(std::begin(names), std::end(names), attributes.resource.resource) != std::end(names);
  };
  const std::string& group = attributes.resource.group;
  if (group == "admissionregistration.k8s.io") return !in(kPolicies);
  if (group == "authentication.k8s.io") return !in(kAuthentication);
  if (group == "authorization.k8s.io") return !in(kAuthorization);
  return true;
}

}  // namespace apimesh::admission::policies
