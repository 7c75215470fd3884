#include "lib/admission/plugins/extended_resource_toleration/extended_resource_toleration.h"

#include <set>

#include "lib/admission/fields.h"
#include "lib/admission/pod_resources.h"

namespace apimesh::admission {
namespace {

using meta::FindString;

void AddResources(const json::object& spec, std::string_view list, std::set<std::string>& names) {
  ForEach(spec, list, [&names](const json::object& container) {
    for (const auto& member : ObjectAt(ObjectAt(container, "resources"), "requests")) {
      if (IsExtendedResource(member.key())) names.emplace(member.key());
    }
  });
}

/// Replaces a toleration with the same key, operator, value and effect, or adds this one.
void AddOrReplace(json::object& spec, const json::object& toleration) {
  bool replaced = false;
  ForEach(spec, "tolerations", [&](json::object& existing) {
    for (const char* field : {"key", "operator", "value", "effect"}) {
      if (FindString(existing, field) != FindString(toleration, field)) return;
    }
    existing = toleration;
    replaced = true;
  });
  if (!replaced) MakeList(spec, "tolerations").push_back(toleration);
}

class ExtendedResourceToleration final : public Plugin {
 public:
  bool Handles(Phase phase, const Attributes& attributes) const override {
    return phase == Phase::kMutate && IsPod(attributes) &&
           (attributes.operation == Operation::kCreate || attributes.operation == Operation::kUpdate);
  }

  Task<meta::Result<>> Mutate(meta::RequestContext, Attributes& attributes) override {
    json::object& spec = SpecOf(*attributes.object);
    std::set<std::string> names;
    AddResources(spec, "containers", names);
    AddResources(spec, "initContainers", names);
    for (const std::string& name : names) {
      const json::object toleration = {{"key", name}, {"operator", "Exists"}, {"effect", "NoSchedule"}};
      AddOrReplace(spec, toleration);
    }
    co_return meta::Result<>();
  }
};

}  // namespace

std::unique_ptr<Plugin> MakeExtendedResourceToleration(const PluginInputs&) {
  return std::make_unique<ExtendedResourceToleration>();
}

}  // namespace apimesh::admission
