#pragma once

#include <functional>
#include <string_view>

#include "lib/registry/resource.h"

namespace apimesh::core_api {

/// Converts documents between a version of a kind and its hub, the version for which the rules are written. apiVersion
/// does not change.
struct VersionConversion {
  std::function<void(meta::json::object& document)> to_hub, from_hub;
};

/// Returns `hub` in another version of its group. Names, verbs, schema and storage are those of the table. Strategies,
/// checks and table cells are those of the hub: without a conversion, both versions have the same fields; with one,
/// they see converted documents. The store must hold the version of the hub if there is a conversion. Hooks are not
/// converted.
registry::Resource InVersion(const registry::Resource& hub, std::string_view version,
                             const VersionConversion& conversion = {});

/// Returns the function `convert` of a Resource of any version of a kind. `hub` is the version with the rules, `other`
/// the only version with different fields.
std::function<std::optional<patch::ManagerInfo::View>(const meta::Object& object, std::string_view api_version)>
ConvertManagedFields(const meta::Gvk& hub, std::string other, VersionConversion conversion);

}  // namespace apimesh::core_api
