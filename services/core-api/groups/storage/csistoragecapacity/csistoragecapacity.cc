#include "services/core-api/groups/storage/csistoragecapacity/csistoragecapacity.h"

#include <fmt/format.h>

#include "lib/meta/object_meta.h"
#include "services/core-api/groups/core/node/deprecated_labels.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/resource_names.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

meta::FieldErrors TopologyErrors(const meta::Object& object) {
  const json::value* topology = meta::FindField(object.Root(), "nodeTopology");
  if (!topology || !topology->is_object()) return {};
  return meta::ValidateLabelSelector(topology->get_object(), meta::Path("nodeTopology"));
}

void ValidateRest(const meta::Object& object, meta::FieldErrors& errors) {
  const Check root(object.Root(), meta::Path(), errors);
  CheckText(root, meta::Path("storageClassName"), root.Text("storageClassName"), meta::CheckDnsSubdomain);
  const std::optional<meta::Quantity> capacity = QuantityOf(meta::FindField(object.Root(), "capacity"));
  if (capacity && capacity->Sign() < 0) {
    errors.push_back(
        meta::Invalid("capacity", meta::Quoted(capacity->ToString()), "must be greater than or equal to 0"));
  }
}

class CapacityStrategy final : public registry::Strategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors = TopologyErrors(object);
    ValidateRest(object, errors);
    return errors;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors = TopologyErrors(object);
    ValidateRest(object, errors);
    for (const char* field : {"nodeTopology", "storageClassName"}) ValidateImmutableAtRoot(field, object, old, errors);
    return errors;
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object*) const override {
    std::vector<std::string> warnings;
    meta::FieldErrors ignored;
    const Check root(object.Root(), meta::Path(), ignored);
    const std::optional<Check> topology = root.Child("nodeTopology");
    if (!topology) return warnings;
    for (const Check& expression : topology->Each("matchExpressions")) {
      const std::string_view key = expression.Text("key"), why = DeprecatedNodeLabel(key);
      if (!why.empty())
        warnings.push_back(fmt::format("{}: {} is {}", expression.Path().Child("key").ToString(), key, why));
    }
    const std::optional<Check> labels = topology->Child("matchLabels");
    if (!labels) return warnings;
    for (const auto& [key, value] : labels->Object()) {
      const std::string_view why = DeprecatedNodeLabel(key);
      if (!why.empty()) warnings.push_back(fmt::format("{}: {}", labels->Path().Child(key).ToString(), why));
    }
    return warnings;
  }
  bool AllowUnconditionalUpdate() const override { return false; }
};

}  // namespace

registry::Resource CsiStorageCapacityResource(const KindInputs&) {
  // kube-apiserver uses the default columns for this kind.
  return FromTable("storage.k8s.io", "v1", "csistoragecapacities", std::make_shared<CapacityStrategy>());
}

}  // namespace apimesh::core_api
