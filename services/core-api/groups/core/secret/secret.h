#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

registry::Resource SecretResource();

}  // namespace apimesh::core_api
