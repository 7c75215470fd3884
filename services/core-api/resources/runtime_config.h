#pragma once

#include <string>
#include <vector>

#include "lib/meta/gvk.h"

namespace apimesh::core_api {

/// Whether --runtime-config leaves a resource on, which it is by default. `config` holds elements such as "api/all=false",
/// "batch/v1=false", "api/v1=true" or "apps/v1/deployments=false". The most special one decides: that of the resource before that of the
/// version, before "api/ga", before "api/all".
bool IsServed(const std::vector<std::string>& config, const meta::Gvr& resource);

}  // namespace apimesh::core_api
