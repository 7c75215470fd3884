#pragma once

#include <string>
#include <utility>
#include <vector>

#include "services/core-api/validation/check.h"

/// Pod templates, from which Deployments, Jobs and other workloads create their pods.
namespace apimesh::core_api {

/// Sets the defaults of the field "template" of `spec`.
void DefaultPodTemplate(meta::json::object& spec);

/// Validates the field "template" of `spec`: its metadata and its pod spec.
void ValidatePodTemplate(const Check& spec);
/// Validates only the labels and annotations of `template`.
void ValidateTemplateMetadata(const Check& spec);

/// Checks that the field "selector" of `spec` matches the labels of the template. A selector that cannot be parsed is
/// reported elsewhere.
void ValidateTemplateLabels(const Check& spec);

/// Checks that the pods of this workload run forever: restartPolicy must be Always and there must be no
/// activeDeadlineSeconds. `kind` is the kind that the message names.
void ValidateRunsForever(const Check& spec, std::string_view kind);

/// Returns the warning about a workload whose name is not a DNS label, or nothing. Its pods are named after it.
std::vector<std::string> PodNameWarnings(std::string_view name);

/// Returns the names and the images of the template's containers, separated by commas.
std::pair<std::string, std::string> ContainerCells(const meta::json::value* template_value);

}  // namespace apimesh::core_api
