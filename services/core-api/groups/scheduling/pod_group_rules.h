#pragma once

#include "services/core-api/validation/check.h"

/// Rules that PodGroups and the templates of Workloads share.
namespace apimesh::core_api {

/// Validates a PodGroupSpec or a PodGroupTemplate: its policy, constraints, claims and priority.
void ValidatePodGroupFields(const Check& group);

/// Adds an error if an update changes this field. The message shows no value.
void ValidateUnchanged(const Check& holder, std::string_view field, const meta::json::object* old);

}  // namespace apimesh::core_api
