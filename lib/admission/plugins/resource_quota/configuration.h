#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/admission/plugins/resource_quota/scopes.h"
#include "lib/meta/gvk.h"

namespace apimesh::admission::resource_quota {

/// A resource that may only be consumed where a quota covers it (LimitedResource of the plugin's configuration).
struct LimitedResource {
  meta::GroupResource resource;
  std::vector<std::string> match_contains;  // parts of the names of consumed amounts that need a quota
  std::vector<ScopeRequirement> match_scopes;
};

/// Reads the plugin's section of the configuration file (ResourceQuotaConfiguration). Without a section, no resource is
/// limited. Throws std::invalid_argument with the message of kube-apiserver for a wrong section.
std::vector<LimitedResource> ReadLimitedResources(const std::optional<std::string>& section);

}  // namespace apimesh::admission::resource_quota
