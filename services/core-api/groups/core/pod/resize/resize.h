#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// The strategy of pods/resize, which changes the cpu and memory of running containers and nothing else.
registry::StrategyPtr ResizeStrategy();

}  // namespace apimesh::core_api
