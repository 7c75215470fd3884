#include "lib/admission/plugins/storage_object_in_use_protection/storage_object_in_use_protection.h"

#include "lib/admission/fields.h"

namespace apimesh::admission {
namespace {

/// Returns the finalizer for objects of this resource, or "".
std::string_view FinalizerOf(const meta::Gvr& resource) {
  if (resource.group.empty() && resource.resource == "persistentvolumeclaims") return "kubernetes.io/pvc-protection";
  if (resource.group.empty() && resource.resource == "persistentvolumes") return "kubernetes.io/pv-protection";
  if (resource.group == "storage.k8s.io" && resource.resource == "volumeattributesclasses")
    return "kubernetes.io/vac-protection";
  return "";
}

class StorageObjectInUseProtection final : public Plugin {
 public:
  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kMutate && attributes.operation == Operation::kCreate && attributes.subresource.empty() &&
           !FinalizerOf(attributes.resource).empty();
  }

  Task<meta::Result<>> Mutate(meta::RequestContext, Attributes& attributes) override {
    AddFinalizer(*attributes.object, FinalizerOf(attributes.resource));
    co_return meta::Result<>();
  }
};

}  // namespace

std::unique_ptr<Plugin> MakeStorageObjectInUseProtection(const PluginInputs&) {
  return std::make_unique<StorageObjectInUseProtection>();
}

}  // namespace apimesh::admission
