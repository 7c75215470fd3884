#include "services/core-api/groups/resource/resourceslice/request_policy.h"

#include <set>

#include <fmt/format.h>

#include "services/core-api/validation/resource_names.h"
#include "services/core-api/validation/texts.h"

namespace apimesh::core_api {
namespace {

constexpr std::size_t kMaxValues = 10;

void Invalid(const Check& holder, const meta::Path& path, const meta::Quantity& shown, std::string detail) {
  holder.Add(meta::Invalid(path.ToString(), meta::Quoted(shown.ToString()), std::move(detail)));
}

void ValidateValues(const Check& policy, const meta::Quantity& standard, const meta::Quantity& capacity) {
  const meta::Path path = policy.Path().Child("validValues");
  std::vector<meta::Quantity> values;
  for (const std::string_view text : TextsOf(policy, "validValues")) {
    const meta::json::value value(meta::json::string_view(text.data(), text.size()));
    values.push_back(QuantityOf(&value).value_or(meta::Quantity()));
  }
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i - 1] > values[i])
      Invalid(policy, path.Index(i), values[i], "values must be sorted in ascending order");
  }
  bool found = false;
  if (values.size() > kMaxValues) {
    policy.Add(meta::TooMany(path.ToString(), values.size(), kMaxValues));
  } else {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] > capacity)
        Invalid(policy, path.Index(i), values[i],
                fmt::format("option is larger than capacity value: {}", capacity.ToString()));
      found = found || values[i] == standard;
    }
    std::set<std::string> seen;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!seen.insert(values[i].ToString()).second)
        policy.Add(meta::Duplicate(path.Index(i).ToString(), meta::Quoted(values[i].ToString())));
    }
  }
  if (!found) Invalid(policy, path, standard, "default value is not valid according to the requestPolicy");
}

void ValidateStep(const Check& range, const meta::Quantity& value, const meta::Quantity& min,
                  const meta::Quantity& step) {
  if (step.Value() != 0 && (value.Value() - min.Value()) % step.Value() == 0) return;
  Invalid(range, range.Path().Child("step"), value,
          fmt::format("value is not a multiple of a given step ({}) from ({})", step.ToString(), min.ToString()));
}

void ValidateRange(const Check& range, const meta::Quantity& standard, const meta::Quantity& capacity) {
  const auto amount = [&](const char* field) { return QuantityOf(meta::FindField(range.Object(), field)); };
  const std::optional<meta::Quantity> min = amount("min"), max = amount("max"), step = amount("step");
  const meta::Path min_path = range.Path().Child("min"), max_path = range.Path().Child("max");
  if (!min) {
    range.Add(meta::Required(min_path.ToString(), "required when validRange is defined"));
    return;
  }
  if (*min > capacity)
    Invalid(range, min_path, *min, fmt::format("min is larger than capacity value: {}", capacity.ToString()));
  if (standard < *min) Invalid(range, min_path, standard, fmt::format("default is less than min: {}", min->ToString()));
  if (max) {
    if (*min > *max) Invalid(range, max_path, *min, fmt::format("min is larger than max: {}", max->ToString()));
    if (*max > capacity)
      Invalid(range, max_path, *max, fmt::format("max is larger than capacity value: {}", capacity.ToString()));
    if (standard > *max)
      Invalid(range, max_path, standard, fmt::format("default is more than max: {}", max->ToString()));
  }
  if (!step) return;
  meta::Quantity added = *min;
  added.Add(*step);
  if (added > capacity) {
    Invalid(range, range.Path().Child("step"), *step,
            fmt::format("one step {} is larger than capacity value: {}", added.ToString(), capacity.ToString()));
  }
  ValidateStep(range, standard, *min, *step);
  if (max) ValidateStep(range, *max, *min, *step);
}

}  // namespace

void ValidateRequestPolicy(const Check& capacity) {
  const std::optional<Check> policy = capacity.Child("requestPolicy");
  if (!policy) return;
  const bool values = SizeOf(*policy, "validValues") > 0;
  const std::optional<Check> range = policy->Child("validRange");
  if (!values && !range) return;
  if (values && range) {
    policy->Add(meta::Forbidden(
        policy->Path().ToString(),
        "exactly one policy can be specified, cannot specify \"validValues\" and \"validRange\" at the same time"));
    return;
  }
  const std::optional<meta::Quantity> standard = QuantityOf(meta::FindField(policy->Object(), "default"));
  const meta::Quantity total = QuantityOf(meta::FindField(capacity.Object(), "value")).value_or(meta::Quantity());
  if (!standard) {
    policy->Add(meta::Required(policy->Path().Child("default").ToString(),
                               fmt::format("required when {} is defined", values ? "validValues" : "validRange")));
  } else if (values) {
    ValidateValues(*policy, *standard, total);
  } else {
    ValidateRange(*range, *standard, total);
  }
}

}  // namespace apimesh::core_api
