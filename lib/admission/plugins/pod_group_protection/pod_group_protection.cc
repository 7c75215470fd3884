#include "lib/admission/plugins/pod_group_protection/pod_group_protection.h"

#include "lib/admission/fields.h"

namespace apimesh::admission {
namespace {

class PodGroupProtection final : public Plugin {
 public:
  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kMutate && attributes.operation == Operation::kCreate && attributes.subresource.empty() &&
           IsResource(attributes, "scheduling.k8s.io", "podgroups");
  }

  Task<meta::Result<>> Mutate(meta::RequestContext, Attributes& attributes) override {
    AddFinalizer(*attributes.object, "scheduling.k8s.io/podgroup-protection");
    co_return meta::Result<>();
  }
};

}  // namespace

std::unique_ptr<Plugin> MakePodGroupProtection(const PluginInputs&) { return std::make_unique<PodGroupProtection>(); }

}  // namespace apimesh::admission
