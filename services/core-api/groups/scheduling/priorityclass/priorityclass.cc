#include "services/core-api/groups/scheduling/priorityclass/priorityclass.h"

#include <algorithm>

#include <fmt/format.h>

#include "services/core-api/bootstrap/data.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/check.h"
#include "services/core-api/validation/spec_fields.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::int64_t kHighestUserPriority = 1'000'000'000;
constexpr std::string_view kSystemPrefix = "system-";

const std::vector<meta::Object>& SystemClasses() {
  static const std::vector<meta::Object> classes = BootstrapObjects(BootstrapFile::kPriorityClasses);
  return classes;
}

const meta::Object* FindSystemClass(std::string_view name) {
  const std::vector<meta::Object>& classes = SystemClasses();
  const auto found =
      std::find_if(classes.begin(), classes.end(), [name](const meta::Object& one) { return one.Name() == name; });
  return found == classes.end() ? nullptr : &*found;
}

/// Returns why a class with the system prefix is not one of those that the server creates, or "".
std::string CheckSystemClass(const Check& root, std::string_view name) {
  const meta::Object* known = FindSystemClass(name);
  if (!known) return fmt::format("{} is not a known system priority class", name);
  const std::int64_t value = NumberAt(known->Root(), "value");
  if (root.Number("value").value_or(0) != value)
    return fmt::format("value of {} PriorityClass must be {}", name, value);
  if (root.IsTrue("globalDefault")) return fmt::format("globalDefault of {} PriorityClass must be false", name);
  return "";
}

class PriorityClassStrategy final : public registry::Strategy {
 public:
  /// The generation never changes after the creation.
  void PrepareForCreate(const meta::RequestContext&, meta::Object& object) const override {
    object.SetMeta("generation", std::int64_t{1});
  }

  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check root(object.Root(), meta::Path(), errors);
    if (object.Name().starts_with(kSystemPrefix)) {
      if (const std::string error = CheckSystemClass(root, object.Name()); !error.empty()) {
        errors.push_back(meta::Forbidden(
            "metadata.name",
            "priority class names with 'system-' prefix are reserved for system use only. error: " + error));
      }
    } else if (root.Number("value").value_or(0) > kHighestUserPriority) {
      errors.push_back(meta::Forbidden(
          "value", fmt::format("maximum allowed value of a user defined priority is {}", kHighestUserPriority)));
    }
    if (root.Has("preemptionPolicy")) root.RequireOneOf("preemptionPolicy", {"PreemptLowerPriority", "Never"});
    return errors;
  }

  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors;
    if (NumberAt(object.Root(), "value") != NumberAt(old.Root(), "value"))
      errors.push_back(meta::Forbidden("value", "may not be changed in an update."));
    ValidateImmutableAtRoot("preemptionPolicy", object, old, errors);
    return errors;
  }

  meta::Result<> CheckDelete(const meta::Object& object) const override {
    if (!FindSystemClass(object.Name())) return {};
    return meta::Forbidden({"scheduling.k8s.io", "priorityclasses"}, object.Name(),
                           "this is a system priority class and cannot be deleted");
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  const json::value* global = meta::FindField(root, "globalDefault");
  return {json::string(object.Name()), NumberAt(root, "value"), global && global->is_bool() && global->get_bool(),
          AgeCell(object, ages), json::string(meta::FindString(root, "preemptionPolicy"))};
}

}  // namespace

registry::Resource PriorityClassResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("scheduling.k8s.io", "v1", "priorityclasses", std::make_shared<PriorityClassStrategy>());
  resource.table = {
      {NameColumn(),
       IntegerColumn("Value", "The priority of the pods."),
       {.name = "Global-Default", .type = "boolean", .description = "Whether pods without a class get this one."},
       AgeColumn(),
       {.name = "PreemptionPolicy", .description = "Whether the pods may evict pods of lower priority."}},
      &Cells,
      {"metadata.name", "metadata.creationTimestamp", "value", "globalDefault", "preemptionPolicy"}};
  return resource;
}

}  // namespace apimesh::core_api
