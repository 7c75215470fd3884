#pragma once

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// Adds to the resource made from data what makes it a pod: defaults, rules, columns, selectable fields.
void DescribePod(registry::Resource& resource);

}  // namespace apimesh::core_api
