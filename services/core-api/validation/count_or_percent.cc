#include "services/core-api/validation/count_or_percent.h"

#include <algorithm>

namespace apimesh::core_api {
namespace {

constexpr std::string_view kPercentPattern = "[0-9]+%";

bool IsPercent(std::string_view text) {
  return text.size() > 1 && text.back() == '%' &&
         std::all_of(text.begin(), text.end() - 1, [](unsigned char c) { return std::isdigit(c) != 0; });
}

}  // namespace

void ValidateCountOrPercent(const Check& holder, std::string_view field) {
  const meta::json::value* value = meta::FindField(holder.Object(), field);
  if (!value) return;
  if (value->is_string() && !IsPercent(value->get_string())) {
    holder.Invalid(field, meta::PatternText("a valid percent string must be a numeric string followed by an ending '%'",
                                            kPercentPattern, {"1%", "93%"}));
  }
  holder.NonNegative(field);
}

std::int64_t CountOrPercent(const Check& holder, std::string_view field) {
  if (const std::string_view text = holder.Text(field); IsPercent(text)) return std::atoll(std::string(text).c_str());
  return holder.Number(field).value_or(0);
}

void ValidateAtMostAll(const Check& holder, std::string_view field) {
  if (IsPercent(holder.Text(field)) && CountOrPercent(holder, field) > 100)
    holder.Invalid(field, "must not be greater than 100%");
}

}  // namespace apimesh::core_api
