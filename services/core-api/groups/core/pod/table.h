#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// Returns the columns of `kubectl get pods`: readiness, the most specific reason for the pod's state, restarts and
/// more.
registry::TablePrinter PodTable();

}  // namespace apimesh::core_api
