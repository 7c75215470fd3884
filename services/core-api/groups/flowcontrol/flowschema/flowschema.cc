#include "services/core-api/groups/flowcontrol/flowschema/flowschema.h"

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/flowcontrol/flow_objects.h"
#include "services/core-api/groups/flowcontrol/flowschema/rules.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::int64_t kDefaultPrecedence = 1000;
constexpr std::int64_t kMaxPrecedence = 10000;

void ValidateSpec(const Check& spec, std::string_view name) {
  const std::int64_t precedence = spec.Number("matchingPrecedence").value_or(0);
  if (precedence <= 0) spec.Invalid("matchingPrecedence", "must be a positive value");
  if (precedence > kMaxPrecedence)
    spec.Invalid("matchingPrecedence", fmt::format("must not be greater than {}", kMaxPrecedence));
  if (precedence == 1 && name != "exempt")
    spec.Invalid("matchingPrecedence", "only the schema named 'exempt' may have matchingPrecedence 1");
  if (const std::optional<Check> method = spec.Child("distinguisherMethod")) {
    const std::string_view type = method->Text("type");
    // kube-apiserver shows the complete object, with the names of its internal type.
    if (type != "ByNamespace" && type != "ByUser") {
      spec.Add(meta::NotSupported(method->Path().Child("type").ToString(),
                                  fmt::format(R"({{"Type":{}}})", meta::Quoted(type)), {"ByNamespace", "ByUser"}));
    }
  }
  static const json::object empty;
  meta::FieldErrors errors;
  const std::optional<Check> level = spec.Child("priorityLevelConfiguration");
  const Check reference(level ? level->Object() : empty, spec.Path().Child("priorityLevelConfiguration"), errors);
  if (reference.Require("name", "must reference a priority level")) reference.Names("name", meta::CheckDnsSubdomain);
  for (meta::FieldError& error : errors) spec.Add(std::move(error));
  for (const Check& rule : spec.Each("rules")) ValidateFlowRule(rule);
}

class FlowSchemaStrategy final : public registry::SpecStrategy {
 public:
  void Default(json::object& object) const override {
    json::object& spec = meta::MakeObject(object, "spec");
    if (NumberAt(spec, "matchingPrecedence") == 0) spec["matchingPrecedence"] = kDefaultPrecedence;
  }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    ValidateSpec(spec, object.Name());
    const json::object* fixed = MandatorySpec(BootstrapFile::kFlowSchemas, object.Name());
    if (fixed && !meta::Equal(spec.Object(), *fixed)) {
      errors.push_back(meta::Invalid("spec", Shown(meta::FindField(object.Root(), "spec")),
                                     fmt::format("spec of '{}' must equal the fixed value", object.Name())));
    }
    ValidateFlowConditions(object, errors);
    return errors;
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object&) const override {
    return Validate(ctx, object);
  }
};

json::value DanglingCell(const json::object& root) {
  for (const json::object& condition : Objects(meta::Find(root, "status", "conditions"))) {
    if (meta::FindString(condition, "type") == "Dangling") return json::string(meta::FindString(condition, "status"));
  }
  return "?";
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  const json::value* method = meta::Find(root, "spec", "distinguisherMethod");
  return {json::string(object.Name()),
          json::string(meta::FindString(root, "spec", "priorityLevelConfiguration", "name")),
          NumberAt(root, "spec", "matchingPrecedence"),
          method && method->is_object() ? json::value(json::string(meta::FindString(method->get_object(), "type")))
                                        : json::value("<none>"),
          AgeCell(object, ages),
          DanglingCell(root)};
}

}  // namespace

registry::Resource FlowSchemaResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("flowcontrol.apiserver.k8s.io", "v1", "flowschemas", std::make_shared<FlowSchemaStrategy>());
  resource.generation = true;
  SetFlowStatus(resource);
  resource.table = {{NameColumn(),
                     {.name = "PriorityLevel", .description = "The priority level of the requests that match."},
                     {.name = "MatchingPrecedence", .description = "Schemas with lower numbers are tried first."},
                     {.name = "DistinguisherMethod", .description = "What requests of one flow have in common."},
                     AgeColumn(),
                     {.name = "MissingPL", .description = "Whether the priority level does not exist."}},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "spec.priorityLevelConfiguration.name",
                     "spec.matchingPrecedence", "spec.distinguisherMethod", "status.conditions"}};
  resource.table.order = [](const meta::Object& schema) {
    return NumberAt(schema.Root(), "spec", "matchingPrecedence");
  };
  return resource;
}

}  // namespace apimesh::core_api
