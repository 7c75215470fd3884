#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// The strategy of pods/ephemeralcontainers, which adds containers for debugging to a running pod. They cannot be
/// changed or removed.
registry::StrategyPtr EphemeralContainersStrategy();

}  // namespace apimesh::core_api
