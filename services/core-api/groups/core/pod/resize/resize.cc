#include "services/core-api/groups/core/pod/resize/resize.h"

#include "services/core-api/features/rule_features.h"
#include "services/core-api/groups/core/pod/pod_rules.h"
#include "services/core-api/groups/core/pod/pod_subresource.h"
#include "services/core-api/groups/core/pod/resize/resize_rules.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

using meta::json::object;
using meta::json::value;

bool SameLength(const object& a, const object& b, const char* list) {
  return Objects(meta::FindField(a, list)).size() == Objects(meta::FindField(b, list)).size();
}

/// Sets a list of containers in `result`, which is a copy of the old spec, to the old containers with the new
/// resources. If containers were renamed or reordered, it takes all of the new list, which validation then refuses.
void TakeResources(object& result, const object& spec, const char* list) {
  const auto containers = Objects(meta::FindField(result, list));
  const auto now = Objects(meta::FindField(spec, list));
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (meta::FindString(now[i].get(), "name") != meta::FindString(containers[i].get(), "name"))
      return CopyField(result, spec, list);
  }
  for (std::size_t i = 0; i < now.size(); ++i) {
    for (const char* field : {"resources", "resizePolicy"}) CopyField(containers[i].get(), now[i].get(), field);
  }
}

class Resize final : public PodSubresource {
 public:
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& pod, const meta::Object& old) const override {
    const object &spec = PodSpecOf(pod), &before = PodSpecOf(old);
    // A list of another length is refused by validation.
    if (SameLength(spec, before, "containers") && SameLength(spec, before, "initContainers")) {
      object result(before, pod.Root().storage());
      if (ActiveRuleFeatures().in_place_pod_level_resources_vertical_scaling) CopyField(result, spec, "resources");
      TakeResources(result, spec, "containers");
      TakeResources(result, spec, "initContainers");
      pod.Root()["spec"] = std::move(result);
      KeepMetadataAndStatus(pod, old);
    }
    CountGeneration(pod, old);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& pod,
                                   const meta::Object& old) const override {
    return ValidateResize(pod, old);
  }
};

}  // namespace

registry::StrategyPtr ResizeStrategy() { return std::make_shared<Resize>(); }

}  // namespace apimesh::core_api
