#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "lib/patch/apply/managed_fields.h"

/// Conversion of HorizontalPodAutoscalers between autoscaling/v1 and v2. v1 has a single number for the CPU. All other
/// metrics and fields of v2 are kept in annotations of the v1 object, which the v2 object does not have.
namespace apimesh::core_api {

/// The annotations of v1 that represent fields of v2.
std::vector<std::string> RoundTripAnnotations();
/// Removes them.
void DropRoundTripAnnotations(meta::json::object& document);

/// Convert a document from one version to the other; apiVersion does not change. An object without metrics gets 80 %
/// CPU when it is converted to v2. Invalid annotations are ignored.
void HpaToV1(meta::json::object& document);
void HpaToV2(meta::json::object& document);

/// Converts an object to another version, for the tracking of field managers.
std::optional<patch::ManagerInfo::View> ConvertHpa(const meta::Object& object, std::string_view api_version);

/// Returns the default of spec.metrics: 80 % of the CPU.
meta::json::array DefaultMetrics();

}  // namespace apimesh::core_api
