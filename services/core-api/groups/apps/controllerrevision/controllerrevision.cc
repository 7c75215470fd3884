#include "services/core-api/groups/apps/controllerrevision/controllerrevision.h"

#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/check.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

class ControllerRevisionStrategy final : public registry::Strategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check root(object.Root(), meta::Path(), errors);
    root.NonNegative("revision");
    const json::value* data = meta::FindField(object.Root(), "data");
    if (!data || data->is_null()) {
      errors.push_back(meta::Required("data", "data is mandatory"));
    } else if (!data->is_object()) {
      errors.push_back(meta::Required("data", "data must be a valid JSON object"));
    }
    return errors;
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors;
    const Check root(object.Root(), meta::Path(), errors);
    root.NonNegative("revision");
    ValidateImmutableAtRoot("data", object, old, errors);
    return errors;
  }
};

/// Returns "statefulset.apps/name" for the owner that is the controller, or "<none>".
std::string ControllerText(const meta::Object& object) {
  for (const json::object& owner : Objects(meta::FindField(object.Metadata(), "ownerReferences"))) {
    const json::value* controller = meta::FindField(owner, "controller");
    if (!controller || !controller->is_bool() || !controller->get_bool()) continue;
    const std::string_view version = meta::FindString(owner, "apiVersion");
    const std::size_t slash = version.find('/');
    std::string kind(meta::FindString(owner, "kind"));
    if (slash != std::string_view::npos && slash > 0) kind += fmt::format(".{}", version.substr(0, slash));
    return fmt::format("{}/{}", LowerCase(kind), meta::FindString(owner, "name"));
  }
  return "<none>";
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  return {json::string(object.Name()), json::string(ControllerText(object)), NumberAt(object.Root(), "revision"),
          AgeCell(object, ages)};
}

}  // namespace

registry::Resource ControllerRevisionResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("apps", "v1", "controllerrevisions", std::make_shared<ControllerRevisionStrategy>());
  resource.table = {{NameColumn(),
                     {.name = "Controller", .description = "The object whose state this is."},
                     {.name = "Revision", .description = "The number of this state."},
                     AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "metadata.ownerReferences", "revision"}};
  return resource;
}

}  // namespace apimesh::core_api
