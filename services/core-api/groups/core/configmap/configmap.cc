#include "services/core-api/groups/core/configmap/configmap.h"

#include "lib/meta/names.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/data_bag.h"
#include "services/core-api/resources/generic.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

class ConfigMapStrategy final : public registry::Strategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const json::object& data = DataBag(object, "data");
    const json::object& binary = DataBag(object, "binaryData");
    std::size_t bytes = 0;
    for (const auto& [key, value] : data) {
      CheckDataKey("data", key, errors);
      if (binary.contains(key)) {
        errors.push_back(meta::Invalid(meta::Path("data").Key(key).ToString(), meta::Quoted(key),
                                       "duplicate of key present in binaryData"));
      }
      bytes += value.is_string() ? value.get_string().size() : 0;
    }
    for (const auto& [key, value] : binary) {
      CheckDataKey("binaryData", key, errors);
      bytes += DecodedSize(value);
    }
    // The error is about the complete object, so it names no field.
    if (bytes > kMaxDataBytes) errors.push_back(meta::TooLong("[]", kMaxDataBytes));
    return errors;
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors = CheckImmutable(object, old, {"data", "binaryData"});
    const meta::FieldErrors more = Validate(ctx, object);
    errors.Append(more);
    return errors;
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const std::size_t keys = DataBag(object, "data").size() + DataBag(object, "binaryData").size();
  return {json::string(object.Name()), keys, AgeCell(object, ages)};
}

}  // namespace

registry::Resource ConfigMapResource(const KindInputs&) {
  registry::Resource resource = FromTable("", "v1", "configmaps");
  resource.strategy = std::make_shared<ConfigMapStrategy>();
  resource.table = {{NameColumn(), {.name = "Data", .description = "How many keys it holds."}, AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "data", "binaryData"}};
  return resource;
}

}  // namespace apimesh::core_api
