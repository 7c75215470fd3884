#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lib/meta/gvk.h"

namespace apimesh::core_api {

/// Whether the name of a version contains neither "alpha" nor "beta". Such versions are served by default.
bool IsStable(std::string_view version);

/// Whether a resource is served according to --runtime-config. `config` holds elements such as "api/all=false",
/// "batch/v1=false", "api/v1=true" or "apps/v1/deployments=false". The most specific element decides: first the
/// resource, then the version, then "api/ga", "api/beta" or "api/alpha", then "api/all". Without an element, stable
/// versions are served and others are not.
bool IsServed(const std::vector<std::string>& config, const meta::Gvr& resource);

}  // namespace apimesh::core_api
