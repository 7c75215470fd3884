#include "services/core-api/groups/coordination/lease/lease.h"

#include "lib/meta/names.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/check.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

class LeaseStrategy final : public registry::Strategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check root(object.Root(), meta::Path(), errors);
    const std::optional<Check> spec = root.Child("spec");
    if (!spec) return errors;
    const Check rules(spec->Object(), meta::Path("spec"), errors);
    if (const auto seconds = rules.Number("leaseDurationSeconds"); seconds && *seconds <= 0) {
      rules.Invalid("leaseDurationSeconds", "must be greater than 0");
    }
    rules.NonNegative("leaseTransitions");
    return errors;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object&) const override {
    return Validate(ctx, object);
  }
  bool AllowCreateOnUpdate() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return false; }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  return {json::string(object.Name()), TextCell(meta::FindString(object.Root(), "spec", "holderIdentity")),
          AgeCell(object, ages)};
}

}  // namespace

registry::Resource LeaseResource(const KindInputs&) {
  registry::Resource resource = FromTable("coordination.k8s.io", "v1", "leases", std::make_shared<LeaseStrategy>());
  resource.table = {{NameColumn(), {.name = "Holder", .description = "Who has it now."}, AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "spec.holderIdentity"}};
  return resource;
}

}  // namespace apimesh::core_api
