#include "lib/admission/plugins/taint_nodes_by_condition/taint_nodes_by_condition.h"

#include "lib/admission/fields.h"

namespace apimesh::admission {
namespace {

constexpr std::string_view kNotReadyTaint = "node.kubernetes.io/not-ready";

class TaintNodesByCondition final : public Plugin {
 public:
  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kMutate && attributes.operation == Operation::kCreate && attributes.subresource.empty() &&
           IsResource(attributes, "", "nodes");
  }

  Task<meta::Result<>> Mutate(meta::RequestContext, Attributes& attributes) override {
    json::object& spec = SpecOf(*attributes.object);
    const bool tainted = AnyOf(ListAt(spec, "taints"), [](const json::object& taint) {
      return meta::FindString(taint, "key") == kNotReadyTaint && meta::FindString(taint, "effect") == "NoSchedule";
    });
    if (!tainted) MakeList(spec, "taints").push_back({{"key", kNotReadyTaint}, {"effect", "NoSchedule"}});
    co_return meta::Result<>();
  }
};

}  // namespace

std::unique_ptr<Plugin> MakeTaintNodesByCondition(const PluginInputs&) {
  return std::make_unique<TaintNodesByCondition>();
}

}  // namespace apimesh::admission
