#include "services/core-api/groups/storage/volumeattributesclass/volumeattributesclass.h"

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/storage/class_rules.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

void ValidateClass(const meta::Object& object, meta::FieldErrors& errors) {
  const Check root(object.Root(), meta::Path(), errors);
  ValidateDriver(root, "driverName");
  ValidateParameters(root);
  if (SizeOf(root, "parameters") == 0)
    errors.push_back(meta::Required("parameters", "must contain at least one key/value pair"));
}

class AttributesClassStrategy final : public registry::Strategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    ValidateClass(object, errors);
    return errors;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors;
    for (const char* field : {"driverName", "parameters"}) {
      if (!meta::Equal(meta::FindField(object.Root(), field), meta::FindField(old.Root(), field)))
        errors.push_back(meta::Forbidden(field, fmt::format("updates to {} are forbidden.", field)));
    }
    ValidateClass(object, errors);
    return errors;
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  return {json::string(object.Name()), TextCell(meta::FindString(object.Root(), "driverName")), AgeCell(object, ages)};
}

}  // namespace

registry::Resource VolumeAttributesClassResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("storage.k8s.io", "v1", "volumeattributesclasses", std::make_shared<AttributesClassStrategy>());
  resource.returns_deleted_object = true;
  resource.table = {
      {NameColumn(), {.name = "DriverName", .description = "The driver that the class belongs to."}, AgeColumn()},
      &Cells,
      {"metadata.name", "metadata.creationTimestamp", "driverName"}};
  return resource;
}

}  // namespace apimesh::core_api
