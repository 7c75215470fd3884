#include "services/core-api/validation/conditions.h"

#include <algorithm>
#include <set>

#include "services/core-api/validation/spec_fields.h"

namespace apimesh::core_api {
namespace {

constexpr std::size_t kMaxReasonLength = 1024;
constexpr std::size_t kMaxMessageLength = 32 * 1024;

bool IsLetter(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'); }
bool IsWord(char c) { return IsLetter(c) || (c >= '0' && c <= '9') || c == '_'; }

bool IsReason(std::string_view text) {
  return IsLetter(text.front()) && IsWord(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return IsWord(c) || c == ',' || c == ':'; });
}

void ValidateReason(const Check& condition) {
  if (!condition.Require("reason")) return;
  if (!IsReason(condition.Text("reason"))) {
    condition.Invalid(
        "reason",
        meta::PatternText("a condition reason must start with alphabetic character, optionally followed by a string of "
                          "alphanumeric characters or '_,:', and must end with an alphanumeric character or '_'",
                          "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?",
                          {"my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB"}));
  }
  if (condition.Text("reason").size() > kMaxReasonLength)
    condition.Add(meta::TooLong(condition.Path().Child("reason").ToString(), kMaxReasonLength));
}

void ValidateCondition(const Check& condition) {
  const std::string_view type = condition.Text("type");
  for (std::string& complaint : meta::CheckQualifiedName(type))
    condition.Add(meta::Invalid(condition.Path().Child("type").ToString(), meta::Quoted(type), std::move(complaint)));
  const std::string_view status = condition.Text("status");
  if (status != "True" && status != "False" && status != "Unknown") {
    condition.Add(meta::NotSupported(condition.Path().Child("status").ToString(), meta::Quoted(status),
                                     {"False", "True", "Unknown"}));
  }
  if (condition.Number("observedGeneration").value_or(0) < 0)
    condition.Invalid("observedGeneration", "must be greater than or equal to zero");
  condition.Require("lastTransitionTime");
  ValidateReason(condition);
  if (condition.Text("message").size() > kMaxMessageLength)
    condition.Add(meta::TooLong(condition.Path().Child("message").ToString(), kMaxMessageLength));
}

}  // namespace

void ValidateConditions(const Check& status) {
  std::set<std::string_view> types;
  for (const Check& condition : status.Each("conditions")) {
    const std::string_view type = condition.Text("type");
    if (!types.insert(type).second)
      condition.Add(meta::Duplicate(condition.Path().Child("type").ToString(), meta::Quoted(type)));
    ValidateCondition(condition);
  }
}

meta::FieldErrors ConditionsStatusStrategy::ValidateUpdate(const meta::RequestContext&, const meta::Object& object,
                                                           const meta::Object&) const {
  meta::FieldErrors errors;
  const Check status = StatusOf(object, errors);
  ValidateConditions(status);
  ValidateOtherFields(status, object);
  return errors;
}

}  // namespace apimesh::core_api
