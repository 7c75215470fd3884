#include "services/core-api/groups/core/limitrange/limitrange.h"

#include <map>

#include <fmt/format.h>

#include "lib/meta/uuid.h"
#include "services/core-api/resources/generic.h"
#include "services/core-api/validation/quantities.h"
#include "services/core-api/validation/resource_names.h"
#include "services/core-api/validation/spec_fields.h"
#include "services/core-api/validation/texts.h"
#include "services/core-api/validation/walk.h"

namespace apimesh::core_api {
namespace {

namespace json = meta::json;

/// Adds the quantities of a list to another list, if it does not have them.
void Complete(json::object& limit, std::string_view to, std::string_view from) {
  json::object& target = meta::MakeObject(limit, to);
  const json::value* source = meta::FindField(limit, from);
  if (!source || !source->is_object()) return;
  const json::object copy = source->get_object();
  for (const auto& [name, amount] : copy) {
    if (!target.contains(name)) target[name] = amount;
  }
}

/// The lists of one limit, by the name of the resource.
using Amounts = std::map<std::string_view, meta::Quantity>;
Amounts ReadAmounts(const Check& limit, std::string_view list) {
  Amounts amounts;
  const std::optional<Check> check = limit.Child(list);
  if (!check) return amounts;
  const bool of_containers = limit.Text("type") == "Pod" || limit.Text("type") == "Container";
  for (const auto& [key, value] : check->Object()) {
    const std::string_view name = key;
    (of_containers ? ValidateContainerResourceName : ValidateResourceName)(*check, check->Path().Key(name), name);
    if (const std::optional<meta::Quantity> amount = QuantityOf(&value)) amounts.emplace(name, *amount);
  }
  return amounts;
}

struct Lists {
  Amounts min, max, defaults, requests, ratios;
};

const meta::Quantity* FindAmount(const Amounts& amounts, std::string_view name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? nullptr : &found->second;
}

void ValidateRatio(const Check& limit, std::string_view name, const meta::Quantity& ratio, const meta::Quantity* min,
                   const meta::Quantity* max) {
  const std::string path = limit.Path().Child("maxLimitRequestRatio").Key(name).ToString();
  const std::string shown = ratio.ToString();
  if (ratio < meta::Quantity(1))
    limit.Add(meta::Invalid(path, meta::Quoted(shown), fmt::format("ratio {} is less than 1", shown)));
  if (!min || !max) return;
  constexpr std::int64_t kMaxMilli = std::numeric_limits<std::int64_t>::max() / 1000;
  double value = static_cast<double>(ratio.Value());
  std::int64_t low = min->Value(), high = max->Value();
  if (ratio.Value() < kMaxMilli && low < kMaxMilli && high < kMaxMilli) {
    value = static_cast<double>(ratio.MilliValue()) / 1000;
    low = min->MilliValue(), high = max->MilliValue();
  }
  const double bound = static_cast<double>(high) / static_cast<double>(low);
  if (value > bound) {
    limit.Add(
        meta::Invalid(path, meta::Quoted(shown), fmt::format("ratio {} is greater than max/min = {:f}", shown, bound)));
  }
}

/// Compares the quantities that the lists have for one resource.
void ValidateOrder(const Check& limit, const Lists& lists, std::string_view name) {
  const meta::Quantity* min = FindAmount(lists.min, name);
  const meta::Quantity* max = FindAmount(lists.max, name);
  const meta::Quantity* standard = FindAmount(lists.defaults, name);
  const meta::Quantity* request = FindAmount(lists.requests, name);
  const auto in_order = [&](const meta::Quantity* small, std::string_view small_name, const meta::Quantity* large,
                            std::string_view large_name, std::string_view list, const meta::Quantity* shown) {
    if (!small || !large || *small <= *large) return;
    limit.Add(meta::Invalid(limit.Path().Child(list).Key(name).ToString(), meta::Quoted(shown->ToString()),
                            fmt::format("{} value {} is greater than {} value {}", small_name, small->ToString(),
                                        large_name, large->ToString())));
  };
  in_order(min, "min", max, "max", "min", min);
  in_order(min, "min", request, "default request", "defaultRequest", request);
  in_order(request, "default request", max, "max", "defaultRequest", request);
  in_order(request, "default request", standard, "default limit", "defaultRequest", request);
  in_order(min, "min", standard, "default", "default", min);
  in_order(standard, "default", max, "max", "default", max);
  if (const meta::Quantity* ratio = FindAmount(lists.ratios, name)) ValidateRatio(limit, name, *ratio, min, max);
  if (!MayOvercommit(name) && standard && request && *standard != *request) {
    limit.Add(meta::Invalid(limit.Path().Child("defaultRequest").Key(name).ToString(),
                            meta::Quoted(request->ToString()),
                            fmt::format("default value {} must equal to defaultRequest value {} in {}",
                                        standard->ToString(), request->ToString(), name)));
  }
}

void ValidateType(const Check& limit) {
  const std::string_view type = limit.Text("type");
  const meta::Path path = limit.Path().Child("type");
  CheckText(limit, path, type, meta::CheckQualifiedName);
  const bool known = type == "Pod" || type == "Container" || type == "PersistentVolumeClaim";
  if (known || type.find('/') != std::string_view::npos || !meta::CheckQualifiedName(type).empty()) return;
  limit.Add(meta::Invalid(path.ToString(), meta::Quoted(type), "must be a standard limit type or fully qualified"));
}

void ValidateLimit(const Check& limit) {
  Lists lists{.max = ReadAmounts(limit, "max")};
  lists.min = ReadAmounts(limit, "min");
  if (limit.Text("type") == "Pod") {
    for (const char* list : {"default", "defaultRequest"}) {
      if (SizeOf(limit, list) > 0) limit.Forbid(list, "may not be specified when `type` is 'Pod'");
    }
  } else {
    lists.defaults = ReadAmounts(limit, "default");
    lists.requests = ReadAmounts(limit, "defaultRequest");
  }
  if (limit.Text("type") == "PersistentVolumeClaim" && !lists.min.contains("storage") &&
      !lists.max.contains("storage")) {
    limit.Add(meta::Required(limit.Path().Child("limits").ToString(),
                             "either minimum or maximum storage value is required, but neither was provided"));
  }
  lists.ratios = ReadAmounts(limit, "maxLimitRequestRatio");
  std::map<std::string_view, bool> names;
  for (const Amounts* amounts : {&lists.max, &lists.min, &lists.defaults, &lists.requests, &lists.ratios}) {
    for (const auto& [name, amount] : *amounts) names[name] = true;
  }
  for (const auto& [name, found] : names) ValidateOrder(limit, lists, name);
}

class LimitRangeStrategy final : public registry::Strategy {
 public:
  /// The default limit of a container is the maximum, and its default request is the default limit or the minimum.
  void Default(json::object& object) const override {
    for (json::object& limit : Objects(meta::Find(object, "spec", "limits"))) {
      if (meta::FindString(limit, "type") != "Container") continue;
      Complete(limit, "default", "max");
      Complete(limit, "defaultRequest", "default");
      Complete(limit, "defaultRequest", "min");
      for (const char* list : {"default", "defaultRequest"}) {
        if (meta::FindField(limit, list)->get_object().empty()) meta::EraseField(limit, list);
      }
    }
  }
  void PrepareForCreate(const meta::RequestContext&, meta::Object& object) const override {
    if (object.Name().empty()) object.SetMeta("name", meta::NewUuid());
  }
  meta::FieldErrors Validate(const meta::RequestContext&, const meta::Object& object) const override {
    meta::FieldErrors errors;
    std::map<std::string_view, bool> types;
    for (const Check& limit : SpecOf(object, errors).Each("limits")) {
      ValidateType(limit);
      const std::string_view type = limit.Text("type");
      if (!types.emplace(type, true).second)
        limit.Add(meta::Duplicate(limit.Path().Child("type").ToString(), meta::Quoted(type)));
      ValidateLimit(limit);
    }
    return errors;
  }
  meta::FieldErrors ValidateUpdate(const meta::RequestContext& ctx, const meta::Object& object,
                                   const meta::Object&) const override {
    return Validate(ctx, object);
  }
  bool AllowCreateOnUpdate() const override { return true; }
};

}  // namespace

registry::Resource LimitRangeResource(const KindInputs&) {
  return FromTable("", "v1", "limitranges", std::make_shared<LimitRangeStrategy>());
}

}  // namespace apimesh::core_api
