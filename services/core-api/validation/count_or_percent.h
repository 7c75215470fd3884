#pragma once

#include "services/core-api/validation/check.h"

/// Int-or-string fields that hold a number of pods or a percentage of pods (maxUnavailable, minAvailable).
namespace apimesh::core_api {

/// Checks that the field is a non-negative number or a percentage. A missing field is accepted.
void ValidateCountOrPercent(const Check& holder, std::string_view field);
/// Checks that a percentage is at most 100%.
void ValidateAtMostAll(const Check& holder, std::string_view field);
/// Returns the count, or the number before "%"; 0 if the field is missing.
std::int64_t CountOrPercent(const Check& holder, std::string_view field);

}  // namespace apimesh::core_api
