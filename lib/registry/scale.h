#pragma once

#include "lib/registry/resource.h"

/// The scale subresource (autoscaling/v1 Scale) of any kind, by paths.
namespace apimesh::registry {

meta::Object ScaleOf(const meta::Object& object, const ScalePaths& paths);

/// `object` with the replicas of `scale`. 422 where they are missing or negative.
meta::Result<> ApplyScale(const meta::Object& scale, meta::Object& object, const ScalePaths& paths);

}  // namespace apimesh::registry
