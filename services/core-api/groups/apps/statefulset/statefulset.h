#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

registry::Resource StatefulSetResource();

}  // namespace apimesh::core_api
