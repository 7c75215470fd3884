#include "services/core-api/groups/resource/resourceslice/resourceslice.h"

#include <algorithm>

#include <fmt/format.h>

#include "lib/meta/time.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/groups/resource/resourceslice/validation.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

class SliceStrategy final : public registry::Strategy {
 public:
  explicit SliceStrategy(const Clock& clock) : clock_(clock) {}
  /// A taint without a time gets the current time.
  void Default(json::object& object) const override {
    for (json::object& device : Objects(meta::Find(object, "spec", "devices"))) {
      for (json::object& taint : Objects(meta::FindField(device, "taints"))) {
        if (meta::FindString(taint, "timeAdded").empty()) taint["timeAdded"] = meta::FormatTime(clock_.Now());
      }
    }
  }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    return ValidateResourceSlice(object, nullptr);
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    return ValidateResourceSlice(object, &old);
  }
  std::vector<std::string> Warnings(const meta::RequestContext&, const meta::Object& object,
                                    const meta::Object*) const override {
    const std::string_view driver = meta::FindString(object.Root(), "spec", "driver");
    if (std::none_of(driver.begin(), driver.end(), [](unsigned char c) { return std::isupper(c) != 0; })) return {};
    return {fmt::format("spec.driver: driver names should be lowercase; {} contains uppercase characters",
                        meta::Quoted(driver))};
  }

 private:
  const Clock& clock_;
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  return {json::string(object.Name()), TextCell(meta::FindString(root, "spec", "nodeName")),
          TextCell(meta::FindString(root, "spec", "driver")), TextCell(meta::FindString(root, "spec", "pool", "name")),
          AgeCell(object, ages)};
}

}  // namespace

registry::Resource ResourceSliceResource(const KindInputs& inputs) {
  registry::Resource resource =
      FromTable("resource.k8s.io", "v1", "resourceslices", std::make_shared<SliceStrategy>(*inputs.clock));
  resource.generation = true;
  resource.returns_deleted_object = true;
  // A node may list, watch and delete slices only with a selector for its own name.
  resource.selectable_fields = {"spec.driver", "spec.nodeName"};
  resource.unknown_field_text = "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: {}";
  resource.table = {{NameColumn(),
                     {.name = "Node", .description = "The node of the devices."},
                     {.name = "Driver", .description = "The driver of the devices."},
                     {.name = "Pool", .description = "The pool of the devices."},
                     AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "spec.nodeName", "spec.driver", "spec.pool.name"}};
  return resource;
}

}  // namespace apimesh::core_api
