#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// What `kubectl get pods` shows: readiness, the reason that says most about the pod's state, restarts.
registry::TablePrinter PodTable();

}  // namespace apimesh::core_api
