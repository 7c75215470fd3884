#pragma once

#include <vector>

#include "lib/features/feature_gates.h"
#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// Makes writes drop fields of features whose gates are off.
void SetDisabledFields(const features::FeatureGates& gates, std::vector<registry::Resource>& resources);

}  // namespace apimesh::core_api
