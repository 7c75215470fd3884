#include "lib/admission/plugins/persistent_volume_claim_resize/persistent_volume_claim_resize.h"

#include "lib/admission/fields.h"
#include "lib/meta/quantity.h"

namespace apimesh::admission {
namespace {

using meta::FindString;

meta::Quantity StorageOf(const meta::Object& claim) {
  const auto parsed = meta::Quantity::Parse(FindString(claim.Root(), "spec", "resources", "requests", "storage"));
  return parsed ? *parsed : meta::Quantity();
}

std::string ClassOf(const meta::Object& claim) {
  if (const json::string* annotation = claim.Annotation("volume.beta.kubernetes.io/storage-class"))
    return std::string(*annotation);
  return std::string(FindString(SpecOf(claim), "storageClassName"));
}

class PersistentVolumeClaimResize final : public Plugin {
 public:
  explicit PersistentVolumeClaimResize(ObjectsPtr objects) : objects_(std::move(objects)) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kValidate && attributes.operation == Operation::kUpdate && attributes.subresource.empty() &&
           IsResource(attributes, "", "persistentvolumeclaims") &&
           StorageOf(*attributes.object) > StorageOf(*attributes.old_object);
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    if (FindString(attributes.old_object->Root(), "status", "phase") != "Bound")
      co_return Forbidden(attributes, "Only bound persistent volume claims can be expanded");
    std::string name = ClassOf(*attributes.object);
    const bool same_class = !name.empty() && name == ClassOf(*attributes.old_object);
    bool allowed = false;
    if (same_class) allowed = co_await AllowsExpansion(std::move(ctx), std::move(name));
    if (allowed) co_return meta::Result<>();
    co_return Forbidden(attributes,
                        "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc "
                        "must support resize");
  }

 private:
  Task<bool> AllowsExpansion(meta::RequestContext ctx, std::string name) {
    if (!objects_) co_return false;
    const meta::Gvr resource{"storage.k8s.io", "v1", "storageclasses"};
    const meta::Result<ObjectPtr> found = co_await objects_->Get(ctx, resource, "", name, Read::kCachedElseNewest);
    co_return found&& BoolAt((*found)->Root(), "allowVolumeExpansion").value_or(false);
  }

  const ObjectsPtr objects_;
};

}  // namespace

std::unique_ptr<Plugin> MakePersistentVolumeClaimResize(const PluginInputs& inputs) {
  return std::make_unique<PersistentVolumeClaimResize>(inputs.objects);
}

}  // namespace apimesh::admission
