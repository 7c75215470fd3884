#include "lib/admission/plugins/limit_pod_hard_anti_affinity_topology/limit_pod_hard_anti_affinity_topology.h"

#include <fmt/format.h>

#include "lib/admission/fields.h"

namespace apimesh::admission {
namespace {

constexpr std::string_view kHostname = "kubernetes.io/hostname";

class LimitPodHardAntiAffinityTopology final : public Plugin {
 public:
  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kValidate && IsPod(attributes) &&
           (attributes.operation == Operation::kCreate || attributes.operation == Operation::kUpdate) &&
           Has(SpecOf(std::as_const(*attributes.object)), "affinity");
  }

  Task<meta::Result<>> Validate(meta::RequestContext, const Attributes& attributes) override {
    const meta::Object& pod = *attributes.object;
    const json::object& anti_affinity = ObjectAt(ObjectAt(SpecOf(pod), "affinity"), "podAntiAffinity");
    for (const json::value& term : ListAt(anti_affinity, "requiredDuringSchedulingIgnoredDuringExecution")) {
      const std::string_view key =
          term.is_object() ? meta::FindString(term.get_object(), "topologyKey") : std::string_view();
      if (key == kHostname) continue;
      co_return meta::Forbidden(attributes.resource.GroupResource(), pod.Name(),
                                fmt::format("affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {} but "
                                            "only key {} is allowed",
                                            key, kHostname));
    }
    co_return meta::Result<>();
  }
};

}  // namespace

std::unique_ptr<Plugin> MakeLimitPodHardAntiAffinityTopology(const PluginInputs&) {
  return std::make_unique<LimitPodHardAntiAffinityTopology>();
}

}  // namespace apimesh::admission
