#include "services/core-api/groups/resource/deviceclass/deviceclass.h"

#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/groups/resource/device_rules.h"
#include "services/core-api/groups/resource/device_selectors.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/quantities.h"
#include "services/core-api/validation/spec_fields.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

bool IsExtendedResourceName(std::string_view name) {
  return !IsNativeResource(name) && !name.starts_with("requests.") &&
         meta::CheckQualifiedName("requests." + std::string(name)).empty();
}

class DeviceClassStrategy final : public registry::Strategy {
 public:
  explicit DeviceClassStrategy(const features::FeatureGates& features) : selectors_(features) {}

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return Validate(object, DeviceSelectorRules::Origin::kNew);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    // Any change of the list makes all its expressions new.
    const json::value *selectors = meta::Find(object.Root(), "spec", "selectors"),
                      *before = meta::Find(old.Root(), "spec", "selectors");
    const bool stored = selectors && before && *selectors == *before;
    return Validate(object, stored ? DeviceSelectorRules::Origin::kStored : DeviceSelectorRules::Origin::kNew);
  }

 private:
  meta::FieldErrors Validate(const meta::Object& object, DeviceSelectorRules::Origin origin) const {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    selectors_.Validate(spec, origin);
    ValidateAtMost(spec, "config", kMaxDeviceConfigs, ValidateDeviceConfiguration);
    if (spec.Has("extendedResourceName") && !IsExtendedResourceName(spec.Text("extendedResourceName")))
      spec.Invalid("extendedResourceName", "must be a valid extended resource name");
    return errors;
  }

  const DeviceSelectorRules selectors_;
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  return {json::string(object.Name()), AgeCell(object, ages)};
}

}  // namespace

registry::Resource DeviceClassResource(const KindInputs& inputs) {
  registry::Resource resource =
      FromTable("resource.k8s.io", "v1", "deviceclasses", std::make_shared<DeviceClassStrategy>(inputs.features));
  resource.generation = true;
  resource.returns_deleted_object = true;
  resource.table = {{NameColumn(), AgeColumn()}, &Cells, {"metadata.name", "metadata.creationTimestamp"}};
  return resource;
}

}  // namespace apimesh::core_api
