#include "lib/admission/plugins/default_storage_class/default_storage_class.h"

#include "lib/admission/default_class.h"
#include "lib/admission/fields.h"

namespace apimesh::admission {
namespace {

class DefaultStorageClass final : public Plugin {
 public:
  explicit DefaultStorageClass(ObjectsPtr objects) : objects_(std::move(objects)) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kMutate && attributes.operation == Operation::kCreate && attributes.subresource.empty() &&
           IsResource(attributes, "", "persistentvolumeclaims") &&
           !attributes.object->Annotation("volume.beta.kubernetes.io/storage-class") &&
           !Has(SpecOf(std::as_const(*attributes.object)), "storageClassName");
  }

  Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes) override {
    meta::Gvr classes{"storage.k8s.io", "v1", "storageclasses"};
    std::vector<std::string_view> annotations = {"storageclass.kubernetes.io/is-default-class",
                                                 "storageclass.beta.kubernetes.io/is-default-class"};
    const meta::Result<ObjectPtr> found =
        co_await FindDefaultClass(std::move(ctx), objects_, std::move(classes), std::move(annotations));
    if (!found) co_return Forbidden(attributes, found.error().Message());
    if (*found) SpecOf(*attributes.object)["storageClassName"] = (*found)->Name();
    co_return meta::Result<>();
  }

 private:
  const ObjectsPtr objects_;
};

}  // namespace

std::unique_ptr<Plugin> MakeDefaultStorageClass(const PluginInputs& inputs) {
  return std::make_unique<DefaultStorageClass>(inputs.objects);
}

}  // namespace apimesh::admission
