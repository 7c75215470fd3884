#include "lib/admission/plugins/resource_quota/resource_quota.h"

#include <set>

#include "lib/admission/fields.h"
#include "lib/admission/plugins/resource_quota/batches.h"
#include "lib/admission/plugins/resource_quota/evaluators/object_count.h"
#include "lib/admission/plugins/resource_quota/evaluators/persistent_volume_claims.h"
#include "lib/admission/plugins/resource_quota/evaluators/pods.h"
#include "lib/admission/plugins/resource_quota/evaluators/resource_claims.h"
#include "lib/admission/plugins/resource_quota/evaluators/services.h"

namespace apimesh::admission {
namespace {

using namespace resource_quota;  // NOLINT(google-build-using-namespace): the parts of this plugin

/// Resources that are not stored, and events.
bool IsIgnored(const meta::Gvr& resource) {
  static const std::set<std::pair<std::string_view, std::string_view>> kIgnored = {
      {"", "bindings"},
      {"", "componentstatuses"},
      {"", "events"},
      {"events.k8s.io", "events"},
      {"authentication.k8s.io", "tokenreviews"},
      {"authentication.k8s.io", "selfsubjectreviews"},
      {"authorization.k8s.io", "subjectaccessreviews"},
      {"authorization.k8s.io", "selfsubjectaccessreviews"},
      {"authorization.k8s.io", "localsubjectaccessreviews"},
      {"authorization.k8s.io", "selfsubjectrulesreviews"}};
  return kIgnored.contains({resource.group, resource.resource});
}

enum class Type { kPod, kService, kPersistentVolumeClaim, kResourceClaim, kOther };

Type TypeOf(const Attributes& attributes) {
  if (IsResource(attributes, "", "pods")) return Type::kPod;
  if (IsResource(attributes, "", "services")) return Type::kService;
  if (IsResource(attributes, "", "persistentvolumeclaims")) return Type::kPersistentVolumeClaim;
  return IsResource(attributes, "resource.k8s.io", "resourceclaims") ? Type::kResourceClaim : Type::kOther;
}

/// Returns whether a write can change what is used of a quota.
bool CanChangeUsage(const Attributes& attributes) {
  const bool create = attributes.operation == Operation::kCreate, update = attributes.operation == Operation::kUpdate;
  if ((!create && !update) || !attributes.object || (update && !attributes.old_object)) return false;
  const std::string& subresource = attributes.subresource;
  switch (TypeOf(attributes)) {
    case Type::kPod:
      if (subresource == "resize") return update;
      if (!subresource.empty()) return false;
      return create || IsTerminating(*attributes.object) != IsTerminating(*attributes.old_object);
    case Type::kPersistentVolumeClaim: return subresource.empty() || (subresource == "status" && update);
    case Type::kService:
    case Type::kResourceClaim: return subresource.empty();
    case Type::kOther: return create && subresource.empty();
  }
  return false;
}

class ResourceQuota final : public Plugin {
 public:
  ResourceQuota(const PluginInputs& inputs, std::vector<LimitedResource> limited)
      : objects_(inputs.objects),
        clock_(inputs.clock),
        needs_quota_(!limited.empty()),
        batches_(std::make_shared<Batches>(inputs.objects, inputs.send, std::move(limited), inputs.clock)) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kValidate && !attributes.ns.empty() && !IsResource(attributes, "", "namespaces") &&
           !IsIgnored(attributes.resource) && CanChangeUsage(attributes) &&
           (needs_quota_ || batches_->GetQuotas().MayHave(attributes.ns));
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    ASSIGN_OR_CO_RETURN(EvaluatorPtr evaluator, co_await EvaluatorFor(ctx, attributes));
    Demand demand = DemandOf(attributes, std::move(evaluator));
    co_return co_await batches_->Charge(std::move(demand));
  }

 private:
  Task<meta::Result<EvaluatorPtr>> EvaluatorFor(meta::RequestContext ctx, const Attributes& attributes) {
    switch (TypeOf(attributes)) {
      case Type::kPod: co_return NewPodEvaluator(clock_->Now());
      case Type::kService: co_return NewServiceEvaluator();
      case Type::kPersistentVolumeClaim: co_return NewPersistentVolumeClaimEvaluator();
      case Type::kOther: co_return NewObjectCountEvaluator(attributes.resource.GroupResource());
      case Type::kResourceClaim: break;
    }
    if (!objects_) co_return PlainError("error resolving quota: device classes cannot be read here");
    ASSIGN_OR_CO_RETURN(ClaimSurroundings surroundings,
                        co_await ReadSurroundings(ctx, objects_, attributes.ns, *attributes.object));
    co_return NewResourceClaimEvaluator(std::move(surroundings), clock_->Now());
  }

  const ObjectsPtr objects_;
  const Clock* const clock_;
  const bool needs_quota_;  // whether some resources are limited by default
  const std::shared_ptr<Batches> batches_;
};

}  // namespace

std::unique_ptr<Plugin> MakeResourceQuota(const PluginInputs& inputs) {
  return std::make_unique<ResourceQuota>(inputs, ReadLimitedResources(inputs.section));
}

}  // namespace apimesh::admission
