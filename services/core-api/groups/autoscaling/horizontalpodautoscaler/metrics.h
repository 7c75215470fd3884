#pragma once

#include <optional>

#include "lib/meta/object.h"

/// What autoscaling/v1 has no fields for, in the form in which its annotations hold it.
namespace apimesh::core_api {

enum class Metric { kWanted, kMeasured };  // of spec.metrics, of status.currentMetrics

/// One metric of v2 in the flatter form of v1.
meta::json::object MetricToV1(const meta::json::object& metric, Metric kind);
/// The reverse; nullopt if a type is wrong. Names of fields count in any case, as they do to Go.
std::optional<meta::json::object> MetricToV2(const meta::json::value& metric, Metric kind);

/// spec.behavior of v2 under the names of Go's fields, all of them written.
meta::json::object BehaviorToV1(const meta::json::object& behavior);
/// The reverse; nullopt if a type is wrong or nothing is in it.
std::optional<meta::json::object> BehaviorToV2(const meta::json::value& behavior);

/// Conditions are the same in both; nullopt if a type is wrong.
std::optional<meta::json::object> CheckedCondition(const meta::json::value& condition);

}  // namespace apimesh::core_api
