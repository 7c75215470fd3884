#include "lib/admission/plugins/default_ingress_class/default_ingress_class.h"

#include "lib/admission/default_class.h"
#include "lib/admission/fields.h"

namespace apimesh::admission {
namespace {

class DefaultIngressClass final : public Plugin {
 public:
  explicit DefaultIngressClass(ObjectsPtr objects) : objects_(std::move(objects)) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kMutate && attributes.operation == Operation::kCreate && attributes.subresource.empty() &&
           IsResource(attributes, "networking.k8s.io", "ingresses") &&
           !attributes.object->Annotation("kubernetes.io/ingress.class") &&
           !Has(SpecOf(std::as_const(*attributes.object)), "ingressClassName");
  }

  Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes) override {
    meta::Gvr classes{"networking.k8s.io", "v1", "ingressclasses"};
    std::vector<std::string_view> annotations = {"ingressclass.kubernetes.io/is-default-class"};
    const meta::Result<ObjectPtr> found =
        co_await FindDefaultClass(std::move(ctx), objects_, std::move(classes), std::move(annotations));
    if (!found) co_return Forbidden(attributes, found.error().Message());
    if (*found) SpecOf(*attributes.object)["ingressClassName"] = (*found)->Name();
    co_return meta::Result<>();
  }

 private:
  const ObjectsPtr objects_;
};

}  // namespace

std::unique_ptr<Plugin> MakeDefaultIngressClass(const PluginInputs& inputs) {
  return std::make_unique<DefaultIngressClass>(inputs.objects);
}

}  // namespace apimesh::admission
