#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

registry::Resource ServiceAccountResource();

}  // namespace apimesh::core_api
