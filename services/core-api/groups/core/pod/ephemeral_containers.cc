#include "services/core-api/groups/core/pod/ephemeral_containers.h"

#include <map>

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "services/core-api/groups/core/pod/pod_rules.h"
#include "services/core-api/groups/core/pod/pod_subresource.h"
#include "services/core-api/validation/texts.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

using meta::json::object;

class EphemeralContainers final : public PodSubresource {
 public:
  void PrepareForUpdate(const meta::RequestContext&, meta::Object& pod, const meta::Object& old) const override {
    object spec(PodSpecOf(old), pod.Root().storage());
    CopyField(spec, PodSpecOf(pod), "ephemeralContainers");
    pod.Root()["spec"] = std::move(spec);
    KeepMetadataAndStatus(pod, old);
    CountGeneration(pod, old);
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& pod,
                                   const meta::Object& old) const override {
    if (FindAnnotation(old, kMirrorAnnotation))
      return {meta::Forbidden("[]", "static pods do not support ephemeral containers")};
    meta::FieldErrors errors = ValidatePodContent(pod, &old);
    ValidateAnnotationChanges(pod, old, errors);
    std::map<std::string_view, const object*> now;
    for (const object& one : Objects(meta::FindField(PodSpecOf(pod), "ephemeralContainers")))
      now[meta::FindString(one, "name")] = &one;
    for (const object& before : Objects(meta::FindField(PodSpecOf(old), "ephemeralContainers"))) {
      const std::string_view name = meta::FindString(before, "name");
      const auto found = now.find(name);
      if (found != now.end() && meta::Equal(*found->second, before)) continue;
      errors.push_back(meta::Forbidden("spec.ephemeralContainers",
                                       fmt::format("existing ephemeral containers {} may not be {}\n",
                                                   meta::Quoted(name), found == now.end() ? "removed" : "changed")));
    }
    return errors;
  }
};

}  // namespace

registry::StrategyPtr EphemeralContainersStrategy() { return std::make_shared<EphemeralContainers>(); }

}  // namespace apimesh::core_api
