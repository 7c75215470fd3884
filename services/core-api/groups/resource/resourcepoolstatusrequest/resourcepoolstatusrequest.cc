#include "services/core-api/groups/resource/resourcepoolstatusrequest/resourcepoolstatusrequest.h"

#include <fmt/format.h>

#include "lib/base/text/text.h"
#include "lib/meta/equal.h"
#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/resource/device_rules.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/conditions.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::int64_t kMaxLimit = 1000;
constexpr std::size_t kMaxPools = 1000, kMaxConditions = 10, kMaxError = 256;

meta::Complaints CheckDriver(std::string_view name) { return meta::CheckDnsSubdomain(LowerCase(name)); }

void ValidateMinimum(const Check& holder, std::string_view field, std::int64_t minimum) {
  const std::optional<std::int64_t> value = holder.Number(field);
  if (value && *value < minimum) holder.Invalid(field, fmt::format("must be greater than or equal to {}", minimum));
}

class PoolRequestStrategy final : public registry::SpecStrategy {
 public:
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    spec.RequireName("driver", CheckDriver);
    if (spec.Has("poolName")) ValidatePoolName(spec, "poolName");
    ValidateMinimum(spec, "limit", 1);
    if (spec.Number("limit").value_or(1) > kMaxLimit) {
      spec.Invalid("limit", fmt::format("must be less than or equal to {}", kMaxLimit));
    }
    return errors;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors;
    if (!meta::Equal(meta::FindField(object.Root(), "spec"), meta::FindField(old.Root(), "spec"))) {
      errors.push_back(meta::Invalid("spec", "null", "field is immutable"));
    }
    return errors;
  }
  bool AllowUnconditionalUpdate() const override { return false; }
};

void ValidatePool(const Check& pool) {
  pool.RequireName("driver", CheckDriver);
  if (pool.Require("poolName")) ValidatePoolName(pool, "poolName");
  ValidateMinimum(pool, "generation", 0);
  ValidateMinimum(pool, "resourceSliceCount", 1);
  for (const char* field : {"totalDevices", "allocatedDevices", "availableDevices", "unavailableDevices"}) {
    ValidateMinimum(pool, field, 0);
  }
  pool.Names("nodeName", meta::CheckDnsSubdomain);
  if (pool.Text("validationError").size() > kMaxError) {
    pool.Add(meta::TooLong(pool.Path().Child("validationError").ToString(), kMaxError));
  }
}

class PoolRequestStatusStrategy final : public registry::StatusStrategy {
 public:
  using StatusStrategy::StatusStrategy;
  meta::FieldErrors ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                   const meta::Object& old) const override {
    meta::FieldErrors errors;
    const json::value* value = meta::FindField(object.Root(), "status");
    const json::value* before = meta::FindField(old.Root(), "status");
    if (before && before->is_object() && !meta::Equal(value, before)) {
      errors.push_back(meta::Invalid("status", Shown(value), "field is immutable"));
    }
    if (!value || !value->is_object()) return errors;
    const Check status(value->get_object(), meta::Path("status"), errors);
    ValidateConditions(status);
    if (!status.Has("poolCount")) errors.push_back(meta::Required("status.poolCount", ""));
    ValidateMinimum(status, "poolCount", 0);
    ValidateAtMost(status, "pools", kMaxPools, ValidatePool);
    if (const std::size_t count = SizeOf(status, "conditions"); count > kMaxConditions) {
      errors.push_back(meta::TooMany("status.conditions", count, kMaxConditions));
    }
    return errors;
  }
};

/// Adds up a number of all pools.
json::value Sum(const json::object& root, std::string_view field) {
  std::int64_t sum = 0;
  for (const json::object& pool : Objects(meta::Find(root, "status", "pools"))) sum += NumberAt(pool, field);
  return json::value(fmt::format("{}", sum));
}

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const json::object& root = object.Root();
  std::string state = "Pending";
  std::string_view completed;
  for (const json::object& condition : Objects(meta::Find(root, "status", "conditions"))) {
    const std::string_view type = meta::FindString(condition, "type");
    if (meta::FindString(condition, "status") != "True" || (type != "Complete" && type != "Failed")) continue;
    state = type;
    if (type == "Complete") completed = meta::FindString(condition, "lastTransitionTime");
    break;
  }
  const auto pools = Objects(meta::Find(root, "status", "pools"));
  const std::int64_t count = NumberAt(root, "status", "poolCount");
  const bool counted = meta::Find(root, "status") && state != "Failed";
  std::int64_t failures = 0;
  for (const json::object& pool : pools) failures += meta::FindField(pool, "validationError") ? 1 : 0;
  json::array cells{json::string(object.Name()), TextCell(meta::FindString(root, "spec", "driver"))};
  for (const char* field : {"totalDevices", "availableDevices", "allocatedDevices", "unavailableDevices"}) {
    cells.push_back(counted ? Sum(root, field) : json::value("-"));
  }
  cells.push_back(counted ? json::value(fmt::format("{}", failures)) : json::value("-"));
  cells.push_back(count);
  if (state == "Complete" && count > static_cast<std::int64_t>(pools.size())) {
    state = fmt::format("Complete ({}/{} pools)", pools.size(), count);
  }
  cells.push_back(json::string(state));
  cells.push_back(completed.empty() ? json::value("<none>") : SinceCell(completed, ages));
  return cells;
}

}  // namespace

registry::Resource ResourcePoolStatusRequestResource(const KindInputs&) {
  registry::Resource resource =
      FromTable("resource.k8s.io", "v1alpha3", "resourcepoolstatusrequests", std::make_shared<PoolRequestStrategy>());
  resource.returns_deleted_object = true;
  registry::Subresource& status = SubresourceOf(resource, "status");
  status.strategy = std::make_shared<PoolRequestStatusStrategy>(resource.strategy, registry::AllMetadata());
  status.reset_fields = registry::StatusResetFields(registry::AllMetadata());
  resource.table = {{NameColumn(),
                     {.name = "Driver", .description = "The driver whose pools are counted."},
                     {.name = "Total", .description = "All devices."},
                     {.name = "Available", .description = "Devices that can be allocated."},
                     {.name = "Allocated", .description = "Devices that are allocated."},
                     {.name = "Unavailable", .description = "Devices that cannot be allocated."},
                     {.name = "Errors", .description = "Pools with errors."},
                     IntegerColumn("Pools", "Pools that match."),
                     {.name = "Status", .description = "The state of the request."},
                     {.name = "Completed", .description = "The time since the pools were counted."}},
                    &Cells,
                    {"metadata.name", "spec.driver", "status"}};
  return resource;
}

}  // namespace apimesh::core_api
