#pragma once

#include "services/core-api/validation/check.h"

namespace apimesh::core_api {

/// Validates the spec of a PersistentVolumeClaim. `any_api_group`: the API groups of data sources are not validated,
/// because the stored claim may have been created before this rule existed.
void ValidateClaimSpec(const Check& spec, bool any_api_group);
/// Returns the warnings about the spec of a claim. `path` is the path that they name.
std::vector<std::string> ClaimSpecWarnings(const meta::json::object& spec, const meta::Path& path);
meta::FieldErrors ValidateClaimUpdate(const meta::Object& claim, const meta::Object& old);
meta::FieldErrors ValidateClaimStatusUpdate(const meta::Object& claim);

/// Removes a data source that only spec.dataSourceRef may name, and copies spec.dataSource to spec.dataSourceRef or
/// vice versa if one of them is missing. `old` is nullptr on creation.
void SyncDataSources(meta::json::object& spec, const meta::json::object* old);

}  // namespace apimesh::core_api
