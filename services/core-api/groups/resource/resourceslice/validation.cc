#include "services/core-api/groups/resource/resourceslice/validation.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <re2/re2.h>

#include "lib/meta/equal.h"
#include "services/core-api/groups/core/persistentvolume/validation.h"
#include "services/core-api/groups/core/pod_spec/validation.h"
#include "services/core-api/groups/resource/device_rules.h"
#include "services/core-api/groups/resource/resourceslice/request_policy.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

constexpr std::size_t kMaxDevices = 128, kMaxAdvancedDevices = 64, kMaxAttributes = 32, kMaxValue = 64;
constexpr std::size_t kMaxTaints = 16, kMaxCounterSets = 8, kMaxCounters = 32, kMaxConsumptions = 2;
constexpr const char* kUnsetOrTrue = "must be either unset or set to true";

void ValidatePool(const Check& spec) {
  static const json::object none;
  meta::FieldErrors errors;
  const std::optional<Check> child = spec.Child("pool");
  const Check pool(child ? child->Object() : none, spec.Path().Child("pool"), errors);
  ValidatePoolName(pool, "name");
  const std::int64_t count = pool.Number("resourceSliceCount").value_or(0);
  if (count <= 0) {
    pool.Add(meta::Invalid(pool.Path().Child("resourceSliceCount").ToString(), fmt::format("{}", count),
                           "must be greater than zero"));
  }
  if (pool.Number("generation").value_or(0) < 0) pool.Invalid("generation", "must be greater than or equal to zero");
  for (meta::FieldError& error : errors) spec.Add(std::move(error));
}

/// Validates the fields that select nodes, and returns the names of those that are set.
std::vector<std::string> ValidateNodes(const Check& holder, const char* empty_name) {
  std::vector<std::string> set;
  if (holder.Has("nodeName")) {
    if (holder.Text("nodeName").empty()) {
      holder.Invalid("nodeName", empty_name);
    } else {
      set.emplace_back("`nodeName`");
      holder.Names("nodeName", meta::CheckDnsSubdomain);
    }
  }
  if (const std::optional<Check> selector = holder.Child("nodeSelector")) {
    set.emplace_back("`nodeSelector`");
    ValidateNodeSelector(*selector, true);
  }
  return set;
}

void ValidateTrue(const Check& holder, const char* field, std::vector<std::string>& set) {
  if (!holder.Has(field)) return;
  if (holder.IsTrue(field)) {
    set.push_back(fmt::format("`{}`", field));
  } else {
    holder.Invalid(field, kUnsetOrTrue);
  }
}

void ValidateNodesOfSlice(const Check& spec) {
  constexpr const char* kOne =
      "exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required";
  std::vector<std::string> set = ValidateNodes(spec, "must be either unset or set to a non-empty string");
  if (const std::optional<Check> selector = spec.Child("nodeSelector");
      selector && SizeOf(*selector, "nodeSelectorTerms") != 1)
    selector->Invalid("nodeSelectorTerms", "must have exactly one node selector term");
  ValidateTrue(spec, "allNodes", set);
  ValidateTrue(spec, "perDeviceNodeSelection", set);
  const std::string path = spec.Path().ToString();
  if (set.empty()) spec.Add(meta::Required(path, kOne));
  if (set.size() > 1) {
    spec.Add(meta::Invalid(path, meta::Quoted(fmt::format("{{{}}}", fmt::join(set, ", "))),
                           fmt::format("{}, but multiple fields are set", kOne)));
  }
}

void ValidateNodesOfDevice(const Check& device, bool per_device) {
  const std::string path = device.Path().ToString();
  if (!per_device) {
    if (device.Has("nodeName") || device.Has("nodeSelector") || device.Has("allNodes")) {
      device.Add(meta::Invalid(path, "null",
                               "`nodeName`, `nodeSelector` and `allNodes` can only be set if "
                               "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"));
    }
    return;
  }
  constexpr const char* kOne =
      "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when `perDeviceNodeSelection` is set to "
      "true in the ResourceSlice spec";
  std::vector<std::string> set = ValidateNodes(device, "must not be empty");
  ValidateTrue(device, "allNodes", set);
  if (set.empty()) device.Add(meta::Required(path, kOne));
  if (set.size() > 1) device.Add(meta::Invalid(path, meta::Quoted(fmt::format("{{{}}}", fmt::join(set, ", "))), kOne));
}

void ValidateAttribute(const Check& attribute) {
  static const re2::RE2 semver(R"((0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))"
                               R"((\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?)");
  const std::string_view version = attribute.Text("version");
  if (attribute.Text("string").size() > kMaxValue)
    attribute.Add(meta::TooLong(attribute.Path().Child("string").ToString(), kMaxValue));
  if (attribute.Has("version") && !re2::RE2::FullMatch(version, semver))
    attribute.Invalid("version", "must be a string compatible with semver.org spec 2.0.0");
  if (version.size() > kMaxValue) attribute.Add(meta::TooLong(attribute.Path().Child("version").ToString(), kMaxValue));
  std::size_t values = 0;
  for (const char* field : {"bool", "int", "string", "version"}) values += attribute.Has(field) ? 1 : 0;
  if (values == 1) return;
  const json::value shown(attribute.Object());
  attribute.Add(meta::Invalid(attribute.Path().ToString(), values == 0 ? "\"\"" : Shown(&shown),
                              "exactly one value must be specified"));
}

/// Calls `validate` with each entry of a map, after its name was validated.
template <class Validate>
void EachEntry(const Check& holder, std::string_view field, Validate validate) {
  const std::optional<Check> map = holder.Child(field);
  if (!map) return;
  meta::FieldErrors errors;
  for (const auto& [key, value] : map->Object()) {
    ValidateAttributeName(*map, map->Path(), key);
    if (value.is_object()) validate(Check(value.get_object(), map->Path().Key(key), errors));
    for (meta::FieldError& error : errors) holder.Add(error);
    errors = meta::FieldErrors();
  }
}

void ValidateCounters(const Check& holder, std::string_view name_field) {
  if (holder.Require(name_field)) holder.Names(name_field, meta::CheckDnsLabel);
  const std::optional<Check> counters = holder.Child("counters");
  const std::string path = holder.Path().Child("counters").ToString();
  if (!counters || counters->Object().empty()) {
    holder.Add(meta::Required(path, ""));
  } else if (counters->Object().size() > kMaxCounters) {
    holder.Add(meta::TooMany(path, counters->Object().size(), kMaxCounters));
  } else {
    for (const auto& [key, value] : counters->Object()) CheckText(holder, counters->Path(), key, meta::CheckDnsLabel);
  }
}

void ValidateSliceDevice(const Check& device, const json::object* old, bool per_device) {
  ValidateLabelName(device, "name");
  const std::size_t entries = SizeOf(device, "attributes") + SizeOf(device, "capacity");
  if (entries > kMaxAttributes) {
    device.Add(
        meta::Invalid(device.Path().ToString(), fmt::format("{}", entries),
                      fmt::format("the total number of attributes and capacities must not exceed {}", kMaxAttributes)));
  }
  EachEntry(device, "attributes", ValidateAttribute);
  const bool shared = device.IsTrue("allowMultipleAllocations");
  EachEntry(device, "capacity", [shared](const Check& capacity) {
    if (!shared) {
      capacity.Forbid("requestPolicy", "allowMultipleAllocations must be true");
    } else {
      ValidateRequestPolicy(capacity);
    }
  });
  if (!old || !meta::Equal(meta::FindField(*old, "taints"), meta::FindField(device.Object(), "taints")))
    ValidateAtMost(device, "taints", kMaxTaints, ValidateDeviceTaint);
  const auto consumption = [](const Check& counters) { ValidateCounters(counters, "counterSet"); };
  if (ValidateAtMost(device, "consumesCounters", kMaxConsumptions, consumption))
    ValidateUnique(device, "consumesCounters", "counterSet");
  ValidateNodesOfDevice(device, per_device);
  ValidateBindingConditions(device);
}

void ValidateDevices(const Check& spec, const meta::Object* old) {
  const bool per_device = spec.IsTrue("perDeviceNodeSelection");
  std::size_t max = kMaxDevices;
  for (const Check& device : spec.Each("devices")) {
    if (SizeOf(device, "taints") + SizeOf(device, "consumesCounters") > 0) max = kMaxAdvancedDevices;
  }
  std::map<std::string_view, const json::object*> before;
  if (old) {
    for (const json::object& device : Objects(meta::Find(old->Root(), "spec", "devices")))
      before[meta::FindString(device, "name")] = &device;
  }
  const auto validate = [&](const Check& device) {
    const auto found = before.find(device.Text("name"));
    ValidateSliceDevice(device, found == before.end() ? nullptr : found->second, per_device);
  };
  if (ValidateAtMost(spec, "devices", max, validate)) ValidateUnique(spec, "devices", "name");
}

}  // namespace

meta::FieldErrors ValidateResourceSlice(const meta::Object& slice, const meta::Object* old) {
  meta::FieldErrors errors;
  const Check spec = SpecOf(slice, errors);
  ValidateCsiDriverName(spec, "driver");
  ValidatePool(spec);
  if (old) {
    const json::value* name = meta::Find(slice.Root(), "spec", "pool", "name");
    if (!meta::Equal(name, meta::Find(old->Root(), "spec", "pool", "name")))
      errors.push_back(meta::Invalid("spec.pool.name", Shown(name), "field is immutable"));
    ValidateImmutable("driver", spec, *old);
    ValidateImmutable("nodeName", spec, *old);
  }
  ValidateNodesOfSlice(spec);
  if (SizeOf(spec, "sharedCounters") > 0 && SizeOf(spec, "devices") > 0)
    errors.push_back(meta::Invalid("spec", "\"\"", "only one of `sharedCounters` or `devices` is allowed"));
  ValidateDevices(spec, old);
  const auto counters = [](const Check& set) { ValidateCounters(set, "name"); };
  if (ValidateAtMost(spec, "sharedCounters", kMaxCounterSets, counters)) ValidateUnique(spec, "sharedCounters", "name");
  return errors;
}

}  // namespace apimesh::core_api
