#include "services/core-api/groups/apps/workload/workload.h"

#include <fmt/format.h>

#include "lib/meta/equal.h"
#include "lib/meta/object_meta.h"
#include "lib/meta/selector.h"
#include "services/core-api/groups/columns.h"

namespace apimesh::core_api {
namespace {

constexpr std::string_view kPercentPattern = "[0-9]+%";

bool IsPercent(std::string_view text) {
  return text.size() > 1 && text.back() == '%' &&
         std::all_of(text.begin(), text.end() - 1, [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

Check SpecOf(const meta::Object& object, meta::FieldErrors& errors) {
  static const meta::json::object empty;
  const meta::json::value* spec = meta::FindField(object.Root(), "spec");
  return Check(spec && spec->is_object() ? spec->get_object() : empty, meta::Path("spec"), errors);
}

void ValidateSelector(const Check& spec, std::string_view kind) {
  const std::optional<Check> selector = spec.Child("selector");
  const std::string path = spec.Path().Child("selector").ToString();
  if (!selector) {
    spec.Add(meta::Required(path, ""));
    return;
  }
  for (meta::FieldError& error : meta::ValidateLabelSelector(selector->Object(), selector->Path())) spec.Add(std::move(error));
  const meta::Result<meta::LabelSelector> parsed = meta::LabelSelector::FromObject(selector->Object());
  if (!parsed) {
    spec.Invalid("selector", "invalid label selector");
  } else if (parsed->Empty()) {
    spec.Invalid("selector", fmt::format("empty selector is invalid for {}", kind));
  }
}

void ValidateImmutable(std::string_view field, const Check& spec, const meta::Object& old) {
  const meta::json::value* before = meta::Find(old.Root(), "spec", field);
  const meta::json::value* now = meta::FindField(spec.Object(), field);
  if (!meta::Equal(before, now)) spec.Invalid(field, "field is immutable");
}

void ValidateCountOrPercent(const Check& holder, std::string_view field) {
  const meta::json::value* value = meta::FindField(holder.Object(), field);
  if (!value) return;
  if (value->is_string() && !IsPercent(value->get_string())) {
    holder.Invalid(field, meta::PatternText("a valid percent string must be a numeric string followed by an ending '%'", kPercentPattern, {"1%", "93%"}));
  }
  holder.NonNegative(field);
}

std::int64_t CountOrPercent(const Check& holder, std::string_view field) {
  if (const std::string_view text = holder.Text(field); IsPercent(text)) return std::atoll(std::string(text).c_str());
  return holder.Number(field).value_or(0);
}

void ValidateAtMostAll(const Check& holder, std::string_view field) {
  if (IsPercent(holder.Text(field)) && CountOrPercent(holder, field) > 100) holder.Invalid(field, "must not be greater than 100%");
}

meta::FieldErrors WorkloadStatusStrategy::ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                                         const meta::Object& old) const {
  meta::FieldErrors errors;
  const meta::json::value* found = meta::FindField(object.Root(), "status");
  static const meta::json::object empty;
  const Check status(found && found->is_object() ? found->get_object() : empty, meta::Path("status"), errors);
  for (const char* field : rules_.non_negative) status.NonNegative(field);
  for (const StatusRules::Bound& bound : rules_.at_most) {
    if (status.Number(bound.field).value_or(0) > status.Number(bound.limit).value_or(0)) {
      errors.push_back(meta::Invalid(status.Path().Child(bound.field).ToString(), fmt::format("{}", status.Number(bound.field).value_or(0)), bound.message));
    }
  }
  if (rules_.counts_collisions) {
    const std::int64_t now = status.Number("collisionCount").value_or(0);
    if (now < NumberAt(old.Root(), "status", "collisionCount")) {
      errors.push_back(meta::Invalid("status.collisionCount", fmt::format("{}", now), "cannot be decremented"));
    }
  }
  return errors;
}

}  // namespace apimesh::core_api
