#include "lib/admission/plugins/pod_resize_validator/pod_resize_validator.h"

#include <fmt/format.h>

#include "lib/admission/assigned_node.h"
#include "lib/admission/fields.h"
#include "lib/admission/pod_resources.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::admission {
namespace {

using meta::FindString;

meta::ApiError WithCause(const meta::ApiError& error, std::string reason) {
  meta::ApiError::Data data = error.Get();
  data.causes.push_back({std::move(reason), "", ""});
  return meta::ApiError(std::move(data));
}

/// Returns what of cpu and memory the pod requests beyond what the node has, or "".
std::string Missing(const json::object& spec, const meta::Object& node) {
  Amounts requests = PodTotal(spec, "requests", &IsPodLevelResource);
  AddAmounts(requests, ReadAmounts(ObjectAt(spec, "overhead")));
  Amounts allocatable = ReadAmounts(ObjectAt(ObjectAt(node.Root(), "status"), "allocatable"));
  std::string missing;
  if (requests["cpu"] > allocatable["cpu"]) {
    missing = fmt::format("cpu, requested: {}, allocatable: {}", requests["cpu"].MilliValue(),
                          allocatable["cpu"].MilliValue());
  }
  if (requests["memory"] > allocatable["memory"]) {
    missing += fmt::format("{}memory, requested: {}, allocatable: {}", missing.empty() ? "" : "; ",
                           requests["memory"].Value(), allocatable["memory"].Value());
  }
  return missing;
}

class PodResizeValidator final : public Plugin {
 public:
  explicit PodResizeValidator(ObjectsPtr objects) : objects_(std::move(objects)) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kValidate && attributes.subresource == "resize" && ChangesAssignedPod(attributes);
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    const json::object& spec = SpecOf(std::as_const(*attributes.object));
    const std::string name(FindString(spec, "nodeName"));
    ASSIGN_OR_CO_RETURN(const ObjectPtr node, co_await AssignedNode(ctx, attributes, objects_));
    const json::string* system = node->Label("kubernetes.io/os");
    if (system && std::string_view(*system) != "linux") {
      const std::string why = fmt::format("pod resize is only supported on linux nodes, node {} is {}",
                                          meta::Quoted(name), meta::Quoted(std::string_view(*system)));
      co_return WithCause(Forbidden(attributes, why), "UnsupportedPlatform");
    }
    const std::string missing = Missing(spec, *node);
    if (missing.empty()) co_return meta::Result<>();
    const std::string why = fmt::format("node didn't have enough allocatable resources: {}", missing);
    co_return WithCause(Forbidden(attributes, why), "NodeCapacity");
  }

 private:
  const ObjectsPtr objects_;
};

}  // namespace

std::unique_ptr<Plugin> MakePodResizeValidator(const PluginInputs& inputs) {
  return std::make_unique<PodResizeValidator>(inputs.objects);
}

}  // namespace apimesh::admission
