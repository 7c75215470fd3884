#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

registry::Resource ConfigMapResource();

}  // namespace apimesh::core_api
