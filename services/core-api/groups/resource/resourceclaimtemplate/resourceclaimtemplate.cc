#include "services/core-api/groups/resource/resourceclaimtemplate/resourceclaimtemplate.h"

#include "lib/meta/object_meta.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/groups/resource/admin_access.h"
#include "services/core-api/groups/resource/device_rules.h"
#include "services/core-api/groups/resource/device_selectors.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/spec_fields.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

class TemplateStrategy final : public registry::Strategy {
 public:
  explicit TemplateStrategy(const features::FeatureGates& features) : selectors_(features) {}

  void Default(json::object& object) const override {
    DefaultDeviceClaim(meta::MakeObject(meta::MakeObject(object, "spec"), "spec"));
  }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return Validate(object, false);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    // The spec cannot change, so its expressions are stored already.
    meta::FieldErrors errors = Validate(object, true);
    ValidateImmutableAtRoot("spec", object, old, errors);
    return errors;
  }

 private:
  meta::FieldErrors Validate(const meta::Object& object, bool stored) const {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    if (const std::optional<Check> metadata = spec.Child("metadata")) {
      errors.Append(meta::ValidateAnnotations(meta::FindField(metadata->Object(), "annotations"),
                                              metadata->Path().Child("annotations")));
      errors.Append(
          meta::ValidateLabels(meta::FindField(metadata->Object(), "labels"), metadata->Path().Child("labels")));
    }
    if (const std::optional<Check> claim = spec.Child("spec")) ValidateDeviceClaim(*claim, selectors_, stored);
    return errors;
  }

  const DeviceSelectorRules selectors_;
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  return {json::string(object.Name()), AgeCell(object, ages)};
}

}  // namespace

registry::Resource ResourceClaimTemplateResource(const KindInputs& inputs) {
  registry::Resource resource =
      FromTable("resource.k8s.io", "v1", "resourceclaimtemplates", std::make_shared<TemplateStrategy>(inputs.features));
  resource.checks = MakeAdminAccessCheck(resource.gvk, inputs.StoreOf({"", "v1", "namespaces"}));
  resource.returns_deleted_object = true;
  resource.table = {{NameColumn(), AgeColumn()}, &Cells, {"metadata.name", "metadata.creationTimestamp"}};
  return resource;
}

}  // namespace apimesh::core_api
