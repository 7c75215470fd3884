#include "lib/admission/plugins/pod_topology_labels/pod_topology_labels.h"

#include "lib/admission/fields.h"

namespace apimesh::admission {
namespace {

constexpr std::string_view kTopologyLabels[] = {"topology.kubernetes.io/zone", "topology.kubernetes.io/region"};

/// Returns the name of the node that a new pod or binding names, or "".
std::string_view NodeOf(const Attributes& attributes) {
  const meta::Object& object = *attributes.object;
  if (attributes.subresource.empty()) return meta::FindString(SpecOf(object), "nodeName");
  if (meta::FindString(object.Root(), "target", "kind") != "Node") return "";
  return meta::FindString(object.Root(), "target", "name");
}

class PodTopologyLabels final : public Plugin {
 public:
  explicit PodTopologyLabels(const PluginInputs& inputs)
      : enabled_(inputs.features.Enabled(features::kPodTopologyLabelsAdmission)), objects_(inputs.objects) {}

  bool Handles(Phase phase, const Attributes& attributes) const override {
    return enabled_ && phase == Phase::kMutate && attributes.operation == Operation::kCreate &&
           IsResource(attributes, "", "pods") &&
           (attributes.subresource.empty() || attributes.subresource == "binding") && !NodeOf(attributes).empty();
  }

  Task<meta::Result<>> Mutate(meta::RequestContext ctx, Attributes& attributes) override {
    if (!objects_) co_return PlainError("nodes cannot be read here");
    const meta::Gvr nodes{"", "v1", "nodes"};
    std::string name(NodeOf(attributes));
    const meta::Result<ObjectPtr> node = co_await objects_->Get(ctx, nodes, "", std::move(name), Read::kCached);
    if (!node && node.error().Is(meta::Reason::kNotFound)) co_return meta::Result<>();
    if (!node) co_return PlainError(node.error().Message());
    for (const std::string_view label : kTopologyLabels) {
      const json::string* value = (*node)->Label(label);
      if (value) meta::MakeObject(attributes.object->Metadata(), "labels")[label] = *value;
    }
    co_return meta::Result<>();
  }

 private:
  const bool enabled_;
  const ObjectsPtr objects_;
};

}  // namespace

std::unique_ptr<Plugin> MakePodTopologyLabels(const PluginInputs& inputs) {
  return std::make_unique<PodTopologyLabels>(inputs);
}

}  // namespace apimesh::admission
