#pragma once

#include <optional>

#include "lib/meta/object.h"

/// Fields of autoscaling/v2 that v1 does not have, in the encoding of the v1 annotations.
namespace apimesh::core_api {

enum class Metric { kWanted, kMeasured };  // in spec.metrics, in status.currentMetrics

/// Converts a metric of v2 to the flatter encoding of v1.
meta::json::object MetricToV1(const meta::json::object& metric, Metric kind);
/// Converts a metric of v1 to v2; nullopt if a field has the wrong type. Field names are matched case-insensitively, as
/// in Go.
std::optional<meta::json::object> MetricToV2(const meta::json::value& metric, Metric kind);

/// Converts spec.behavior of v2 to an object with the names of Go's fields, which contains all fields.
meta::json::object BehaviorToV1(const meta::json::object& behavior);
/// Converts spec.behavior back to v2; nullopt if a field has the wrong type or the behavior is empty.
std::optional<meta::json::object> BehaviorToV2(const meta::json::value& behavior);

/// Checks the types of a condition, which is the same in both versions; nullopt if a field has the wrong type.
std::optional<meta::json::object> CheckedCondition(const meta::json::value& condition);

}  // namespace apimesh::core_api
