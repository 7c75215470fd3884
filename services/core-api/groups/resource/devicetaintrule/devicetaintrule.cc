#include "services/core-api/groups/resource/devicetaintrule/devicetaintrule.h"

#include "lib/meta/time.h"
#include "lib/registry/status_strategy.h"
#include "services/core-api/groups/columns.h"
#include "services/core-api/groups/core/persistentvolume/validation.h"
#include "services/core-api/groups/kind_inputs.h"
#include "services/core-api/groups/resource/device_rules.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/conditions.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::size_t kMaxConditions = 8;

std::string_view Taint(const meta::Object& object, std::string_view field) {
  return meta::FindString(object.Root(), "spec", "taint", field);
}

class TaintRuleStrategy final : public registry::SpecStrategy {
 public:
  explicit TaintRuleStrategy(const Clock* clock) : clock_(clock) {}
  /// A taint without a time gets the current time.
  void Default(json::object& object) const override {
    json::object& taint = meta::MakeObject(meta::MakeObject(object, "spec"), "taint");
    if (meta::FindString(taint, "timeAdded").empty()) taint["timeAdded"] = meta::FormatTime(clock_->Now());
  }
  /// A new effect counts from the time of the change, unless the client sets the time.
  void PrepareForUpdate(const meta::RequestContext& ctx, meta::Object& object, const meta::Object& old) const override {
    SpecStrategy::PrepareForUpdate(ctx, object, old);
    if (Taint(object, "effect") == Taint(old, "effect") || Taint(object, "timeAdded") != Taint(old, "timeAdded"))
      return;
    meta::MakeObject(meta::MakeObject(object.Root(), "spec"), "taint")["timeAdded"] = meta::FormatTime(clock_->Now());
  }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    const Check spec = SpecOf(object, errors);
    if (const std::optional<Check> selector = spec.Child("deviceSelector")) {
      if (selector->Has("driver")) ValidateCsiDriverName(*selector, "driver");
      if (selector->Has("pool")) ValidatePoolName(*selector, "pool");
      if (selector->Has("device")) ValidateLabelName(*selector, "device");
    }
    if (const std::optional<Check> taint = spec.Child("taint")) ValidateDeviceTaint(*taint);
    return errors;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object&) const override {
    return Validate(ctx, object);
  }

 private:
  const Clock* const clock_;
};

class TaintRuleStatusStrategy final : public ConditionsStatusStrategy {
 public:
  using ConditionsStatusStrategy::ConditionsStatusStrategy;

 private:
  void ValidateOtherFields(const Check& status, const meta::Object&) const override {
    if (const std::size_t count = SizeOf(status, "conditions"); count > kMaxConditions) {
      status.Add(meta::TooMany("status.conditions", count, kMaxConditions));
    }
  }
};

json::array Cells(const meta::Object& object, meta::Ages& ages) {
  const std::string_view added = Taint(object, "timeAdded");
  return {json::string(object.Name()),
          TextCell(Taint(object, "key")),
          TextCell(Taint(object, "value")),
          TextCell(Taint(object, "effect")),
          added.empty() ? json::value("") : SinceCell(added, ages),
          AgeCell(object, ages)};
}

}  // namespace

registry::Resource DeviceTaintRuleResource(const KindInputs& inputs) {
  registry::Resource resource =
      FromTable("resource.k8s.io", "v1alpha3", "devicetaintrules", std::make_shared<TaintRuleStrategy>(inputs.clock));
  resource.generation = true;
  resource.returns_deleted_object = true;
  registry::Subresource& status = SubresourceOf(resource, "status");
  status.strategy = std::make_shared<TaintRuleStatusStrategy>(resource.strategy, registry::AllMetadata());
  status.reset_fields = registry::StatusResetFields(registry::AllMetadata());
  resource.table = {{NameColumn(),
                     {.name = "Key", .description = "The key of the taint."},
                     {.name = "Value", .description = "The value of the taint."},
                     {.name = "Effect", .description = "The effect of the taint."},
                     {.name = "TimeAdded", .description = "The time since the taint has this effect."},
                     AgeColumn()},
                    &Cells,
                    {"metadata.name", "metadata.creationTimestamp", "spec.taint"}};
  return resource;
}

}  // namespace apimesh::core_api
