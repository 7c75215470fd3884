#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

registry::Resource NamespaceResource();

}  // namespace apimesh::core_api
