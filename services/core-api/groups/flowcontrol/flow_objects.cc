#include "services/core-api/groups/flowcontrol/flow_objects.h"

#include <map>
#include <set>

#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/spec_fields.h"

namespace apimesh::core_api {
namespace {

using Specs = std::map<std::string, meta::json::object, std::less<>>;

Specs MandatorySpecs(BootstrapFile file) {
  Specs specs;
  for (const meta::Object& object : BootstrapObjects(file)) {
    const meta::json::value* spec = meta::FindField(object.Root(), "spec");
    if (object.Name() == "exempt" || object.Name() == "catch-all") specs.emplace(object.Name(), spec->as_object());
  }
  return specs;
}

}  // namespace

const meta::json::object* MandatorySpec(BootstrapFile file, std::string_view name) {
  static const Specs schemas = MandatorySpecs(BootstrapFile::kFlowSchemas);
  static const Specs levels = MandatorySpecs(BootstrapFile::kPriorityLevels);
  const Specs& specs = file == BootstrapFile::kFlowSchemas ? schemas : levels;
  const auto found = specs.find(name);
  return found == specs.end() ? nullptr : &found->second;
}

void ValidateFlowConditions(const meta::Object& object, meta::FieldErrors& errors) {
  const Check status = StatusOf(object, errors);
  std::set<std::string_view> types;
  for (const Check& condition : status.Each("conditions")) {
    const std::string_view type = condition.Text("type");
    if (!types.insert(type).second)
      condition.Add(meta::Duplicate(condition.Path().Child("type").ToString(), meta::Quoted(type)));
    condition.Require("type");
  }
}

meta::FieldErrors FlowStatusStrategy::ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                                     const meta::Object&) const {
  meta::FieldErrors errors;
  ValidateFlowConditions(object, errors);
  return errors;
}

void SetFlowStatus(registry::Resource& resource) {
  registry::Subresource& status = SubresourceOf(resource, "status");
  status.strategy = std::make_shared<FlowStatusStrategy>(resource.strategy);
  status.reset_fields = registry::StatusResetFields(registry::AllMetadata());
}

}  // namespace apimesh::core_api
