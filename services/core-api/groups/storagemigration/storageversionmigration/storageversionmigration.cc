#include "services/core-api/groups/storagemigration/storageversionmigration/storageversionmigration.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "lib/meta/equal.h"
#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/conditions.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

void AddJoined(const Check& resource, std::string_view field, const meta::Complaints& complaints) {
  if (!complaints.empty()) resource.Invalid(field, fmt::format("{}", fmt::join(complaints, ",")));
}

class MigrationStrategy final : public registry::SpecStrategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    static const json::object kEmpty;
    meta::FieldErrors errors;
    const json::value* value = meta::Find(object.Root(), "spec", "resource");
    const Check resource(value && value->is_object() ? value->get_object() : kEmpty,
                         meta::Path("spec").Child("resource"), errors);
    if (resource.Require("resource", "resource is required to be set")) {
      AddJoined(resource, "resource", meta::CheckDns1035Label(resource.Text("resource")));
    }
    if (!resource.Text("group").empty()) {
      AddJoined(resource, "group", meta::CheckDnsSubdomain(resource.Text("group")));
    }
    return errors;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors = Validate(ctx, object);
    const json::value* spec = meta::FindField(object.Root(), "spec");
    if (!meta::Equal(spec, meta::FindField(old.Root(), "spec"))) {
      errors.push_back(meta::Invalid("spec", Shown(spec), "field is immutable"));
    }
    return errors;
  }
  bool AllowUnconditionalUpdate() const override { return false; }
};

bool IsTrue(const json::object& root, std::string_view type) {
  const auto conditions = Objects(meta::Find(root, "status", "conditions"));
  return std::any_of(conditions.begin(), conditions.end(), [type](const json::object& condition) {
    return meta::FindString(condition, "type") == type && meta::FindString(condition, "status") == "True";
  });
}

class MigrationStatusStrategy final : public registry::StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    static const json::object kEmpty;
    meta::FieldErrors errors;
    const json::object &root = object.Root(), &before = old.Root();
    const json::value* value = meta::FindField(root, "status");
    const Check status(value && value->is_object() ? value->get_object() : kEmpty, meta::Path("status"), errors);
    const std::string_view version = status.Text("resourceVersion");
    const std::string_view old_version = meta::FindString(before, "status", "resourceVersion");
    const bool is_number = version.find_first_not_of("0123456789") == version.npos && !version.starts_with('0');
    if (!version.empty() && !is_number) {
      status.Invalid("resourceVersion", fmt::format("resource version is not well formed: {}", version));
    }
    ValidateConditions(status);
    if (!old_version.empty() && version != old_version) status.Invalid("resourceVersion", "field is immutable");
    if (IsTrue(root, "Succeeded") && IsTrue(root, "Failed")) {
      status.Invalid("conditions", "Both success and failed conditions cannot be true at the same time");
    }
    if (IsTrue(before, "Succeeded") && !IsTrue(root, "Succeeded")) {
      status.Invalid("conditions", "Success condition cannot be set to false once it is true");
    }
    if (IsTrue(before, "Failed") && !IsTrue(root, "Failed")) {
      status.Invalid("conditions", "Failed condition cannot be set to false once it is true");
    }
    return errors;
  }
};

json::array Cells(const meta::Object& object, meta::Ages&) {
  const json::object& root = object.Root();
  std::string_view state = "Unknown";
  for (const std::string_view type : {"Running", "Failed", "Succeeded"}) {
    if (IsTrue(root, type)) state = type;
  }
  const std::string_view group = meta::FindString(root, "spec", "resource", "group");
  const std::string_view resource = meta::FindString(root, "spec", "resource", "resource");
  return {json::string(object.Name()), json::string(fmt::format("{}{}{}", resource, group.empty() ? "" : ".", group)),
          json::string(state)};
}

}  // namespace

registry::Resource StorageVersionMigrationResource(const KindInputs&) {
  registry::Resource resource = FromTable("storagemigration.k8s.io", "v1beta1", "storageversionmigrations",
                                          std::make_shared<MigrationStrategy>());
  registry::Subresource& status = SubresourceOf(resource, "status");
  status.strategy = std::make_shared<MigrationStatusStrategy>(resource.strategy, registry::AllMetadata());
  status.reset_fields = registry::StatusResetFields(registry::AllMetadata());
  registry::Column name = NameColumn();
  name.format = "";  // kube-apiserver omits the format of this column
  resource.table = {{std::move(name),
                     {.name = "Resource", .description = "The resource that is stored again."},
                     {.name = "Status", .description = "The state of the migration."}},
                    &Cells,
                    {"metadata.name", "spec.resource", "status.conditions"}};
  return resource;
}

}  // namespace apimesh::core_api
