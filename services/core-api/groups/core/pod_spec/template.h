#pragma once

#include <utility>

#include "services/core-api/groups/check.h"

/// Pod templates: what Deployments, Jobs and other workloads make their pods from.
namespace apimesh::core_api {

/// Defaults of the field "template" of `spec`.
void DefaultPodTemplate(meta::json::object& spec);

/// Rules of the field "template" of `spec`: its metadata and its pod spec.
void ValidatePodTemplate(const Check& spec);

/// The template must match the field "selector" of `spec`; a selector that cannot be read has its own complaints.
void ValidateTemplateLabels(const Check& spec);

/// Pods of this workload run for ever: `kind` as the message names it.
void ValidateRunsForEver(const Check& spec, std::string_view kind);

/// Names and images of the template's containers, with commas.
std::pair<std::string, std::string> ContainerCells(const meta::json::value* template_value);

}  // namespace apimesh::core_api
