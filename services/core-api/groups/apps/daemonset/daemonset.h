#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

registry::Resource DaemonSetResource();

}  // namespace apimesh::core_api
