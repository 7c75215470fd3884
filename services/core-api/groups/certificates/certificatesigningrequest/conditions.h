#pragma once

#include <string_view>
#include <vector>

#include "lib/meta/object.h"

namespace apimesh::core_api {

constexpr std::string_view kApproved = "Approved", kDenied = "Denied", kFailed = "Failed";

/// Returns status.conditions of a certificate signing request; nullptr if it has none.
const meta::json::array* ConditionsOf(const meta::Object& request);
meta::json::array* ConditionsOf(meta::Object& request);
/// Returns the conditions of one type, in order.
std::vector<const meta::json::object*> ConditionsOfType(const meta::Object& request, std::string_view type);
bool HasCondition(const meta::Object& request, std::string_view type);

/// Replaces the conditions of this type in `request` by those of `old`, if both have the same number of them.
void KeepConditions(meta::Object& request, const meta::Object& old, std::string_view type);
/// Sets times that are missing. lastTransitionTime is taken from the condition with the same type and status in `old`,
/// if there is one.
void FillConditionTimes(meta::Object& request, const meta::Object& old, std::string_view now);

}  // namespace apimesh::core_api
