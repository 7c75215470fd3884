#include "services/core-api/groups/node/runtimeclass/runtimeclass.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "lib/meta/object_meta.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/node/deprecated_labels.h"
#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/quantities.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

/// The overhead is validated as limits of a container, and its errors name that field.
void ValidateOverhead(const Check& root) {
  const json::value* fixed = meta::Find(root.Object(), "overhead", "podFixed");
  if (!fixed || !fixed->is_object()) return;
  meta::FieldErrors errors;
  const json::object& amounts = fixed->get_object();
  ValidateContainerQuantities(Check(amounts, meta::Path("overhead").Child("limits"), errors));
  const auto has = [&amounts](auto predicate) {
    return std::any_of(amounts.begin(), amounts.end(), [&](const auto& one) { return predicate(one.key()); });
  };
  if (has(IsHugePages) && !has([](std::string_view name) { return name == "cpu" || name == "memory"; }))
    errors.push_back(meta::Forbidden("overhead", "HugePages require cpu or memory"));
  for (meta::FieldError& error : errors) root.Add(std::move(error));
}

/// Returns a toleration as kube-apiserver shows it, with the names of its internal type.
std::string ShownToleration(const Check& toleration) {
  return fmt::format(R"({{"Key":{},"Operator":{},"Value":{},"Effect":{},"TolerationSeconds":{}}})",
                     meta::Quoted(toleration.Text("key")), meta::Quoted(toleration.Text("operator")),
                     meta::Quoted(toleration.Text("value")), meta::Quoted(toleration.Text("effect")),
                     Shown(meta::FindField(toleration.Object(), "tolerationSeconds")));
}

void ValidateScheduling(const Check& root) {
  const std::optional<Check> scheduling = root.Child("scheduling");
  if (!scheduling) return;
  for (meta::FieldError& error : meta::ValidateLabels(meta::FindField(scheduling->Object(), "nodeSelector"),
                                                      scheduling->Path().Child("nodeSelector"))) {
    root.Add(std::move(error));
  }
  ValidateTolerations(*scheduling);
  std::set<std::tuple<std::string_view, std::string_view, std::string_view, std::string_view>> seen;
  for (const Check& one : scheduling->Each("tolerations")) {
    const bool is_new =
        seen.emplace(one.Text("key"), one.Text("operator"), one.Text("value"), one.Text("effect")).second;
    if (!is_new) one.Add(meta::Duplicate(one.Path().ToString(), ShownToleration(one)));
  }
}

class RuntimeClassStrategy final : public registry::Strategy {
 public:
  bool AllowCreateOnUpdate() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return false; }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check root(object.Root(), meta::Path(), errors);
    root.RequireName("handler", meta::CheckDnsLabel);
    ValidateOverhead(root);
    ValidateScheduling(root);
    return errors;
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors = Validate(ctx, object);
    const std::string_view handler = meta::FindString(object.Root(), "handler");
    if (handler != meta::FindString(old.Root(), "handler"))
      errors.push_back(meta::Invalid("handler", meta::Quoted(handler), "field is immutable"));
    return errors;
  }

  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object*) const override {
    std::vector<std::string> warnings;
    const json::value* selector = meta::Find(object.Root(), "scheduling", "nodeSelector");
    if (!selector || !selector->is_object()) return warnings;
    for (const auto& [key, value] : selector->get_object()) {
      const std::string_view deprecation = DeprecatedNodeLabel(key);
      if (!deprecation.empty()) warnings.push_back(fmt::format("scheduling.nodeSelector: {}", deprecation));
    }
    return warnings;
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  return {json::string(object.Name()), json::string(meta::FindString(object.Root(), "handler")), AgeCell(object, ages)};
}

}  // namespace

registry::Resource RuntimeClassResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("node.k8s.io", "v1", "runtimeclasses", std::make_shared<RuntimeClassStrategy>());
  resource.table = {
      {NameColumn(), {.name = "Handler", .description = "The configuration of the container runtime."}, AgeColumn()},
      &Cells,
      {"metadata.name", "metadata.creationTimestamp", "handler"}};
  return resource;
}

}  // namespace apimesh::core_api
