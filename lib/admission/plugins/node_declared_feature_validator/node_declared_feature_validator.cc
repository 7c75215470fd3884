#include "lib/admission/plugins/node_declared_feature_validator/node_declared_feature_validator.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/admission/assigned_node.h"
#include "lib/admission/fields.h"
#include "lib/meta/errors/field_error.h"

namespace apimesh::admission {
namespace {

using meta::FindString;

/// Returns whether the resources of an init container that is not a sidecar change.
bool ResizesInitContainer(const json::object& spec, const json::object& old) {
  const json::array &now = ListAt(spec, "initContainers"), &before = ListAt(old, "initContainers");
  for (std::size_t i = 0; i < std::min(now.size(), before.size()); ++i) {
    if (!now[i].is_object() || !before[i].is_object()) continue;
    const json::object &container = now[i].get_object(), &old_container = before[i].get_object();
    if (FindString(old_container, "restartPolicy") == "Always") continue;
    if (!SemanticallyEqual(meta::FindField(container, "resources"), meta::FindField(old_container, "resources")))
      return true;
  }
  return false;
}

/// Returns the features that the node must have for this change of a pod, in alphabetical order.
std::vector<std::string_view> RequiredFeatures(const meta::Object& pod, const meta::Object& old) {
  const json::object &spec = SpecOf(pod), &old_spec = SpecOf(old);
  std::vector<std::string_view> features;
  if (!SemanticallyEqual(meta::FindField(spec, "resources"), meta::FindField(old_spec, "resources")))
    features.emplace_back("InPlacePodLevelResourcesVerticalScaling");
  if (ResizesInitContainer(spec, old_spec)) features.emplace_back("InPlacePodVerticalScalingInitContainers");
  return features;
}

class NodeDeclaredFeatureValidator final : public Plugin {
 public:
  explicit NodeDeclaredFeatureValidator(const PluginInputs& inputs)
      : enabled_(inputs.features.Enabled(features::kNodeDeclaredFeatures)), objects_(inputs.objects) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return enabled_ && phase == Phase::kValidate &&
           (attributes.subresource.empty() || attributes.subresource == "resize") && ChangesAssignedPod(attributes);
  }

  Task<meta::Result<>> Validate(meta::RequestContext ctx, const Attributes& attributes) override {
    std::vector<std::string_view> missing = RequiredFeatures(*attributes.object, *attributes.old_object);
    if (missing.empty()) co_return meta::Result<>();
    const std::string name(FindString(SpecOf(std::as_const(*attributes.object)), "nodeName"));
    ASSIGN_OR_CO_RETURN(const ObjectPtr node, co_await AssignedNode(ctx, attributes, objects_));
    const json::array& declared = ListAt(ObjectAt(node->Root(), "status"), "declaredFeatures");
    std::erase_if(missing, [&declared](std::string_view feature) {
      return std::any_of(declared.begin(), declared.end(), [feature](const json::value& one) {
        return one.is_string() && std::string_view(one.get_string()) == feature;
      });
    });
    if (missing.empty()) co_return meta::Result<>();
    co_return Forbidden(attributes, fmt::format("pod update requires features {} which are not available on node {}",
                                                fmt::join(missing, ", "), meta::Quoted(name)));
  }

 private:
  const bool enabled_;
  const ObjectsPtr objects_;
};

}  // namespace

std::unique_ptr<Plugin> MakeNodeDeclaredFeatureValidator(const PluginInputs& inputs) {
  return std::make_unique<NodeDeclaredFeatureValidator>(inputs);
}

}  // namespace apimesh::admission
