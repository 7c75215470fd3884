#pragma once

#include <cstdint>
#include <limits>

#include "lib/registry/resource.h"

/// The scale subresource (autoscaling/v1 Scale) of any kind, based on ScalePaths.
namespace apimesh::registry {

meta::Object ScaleOf(const meta::Object& object, const ScalePaths& paths);
/// Returns whether the object has replicas. Those of built-in kinds have a default; custom resources may have none.
bool HasReplicas(const meta::Object& object, const ScalePaths& paths);

/// Replicas of a Scale that stand for missing replicas while a patch is applied to it.
constexpr std::int64_t kMissingReplicas = std::numeric_limits<std::int32_t>::min();

/// Sets the replicas of `object` to those of `scale`. Missing replicas count as 0, negative ones are a 422,
/// and kMissingReplicas are a 400.
meta::Result<> ApplyScale(const meta::Object& scale, meta::Object& object, const ScalePaths& paths);

}  // namespace apimesh::registry
