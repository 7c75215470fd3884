#pragma once

#include "lib/admission/plugins/resource_quota/evaluators/evaluator.h"
#include "lib/base/clock.h"

namespace apimesh::admission::resource_quota {

/// Counts pods and what they request and are limited to. A pod that has ended, or that should have ended before `now`,
/// only counts as an object.
EvaluatorPtr NewPodEvaluator(WallTime now);

/// Returns whether a pod has a deadline, which is what the scopes Terminating and NotTerminating are about.
bool IsTerminating(const meta::Object& pod);
/// Returns whether quotas count this as an extended resource: "requests.example.com/gpu", or
/// "requests.deviceclass.resource.kubernetes.io/class" for devices of a class.
bool IsExtendedResourceOfQuota(std::string_view name);

inline constexpr std::string_view kDeviceClassPrefix = "deviceclass.resource.kubernetes.io/";

}  // namespace apimesh::admission::resource_quota
