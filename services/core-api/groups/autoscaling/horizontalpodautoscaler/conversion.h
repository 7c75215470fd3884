#pragma once

#include <optional>
#include <string_view>

#include "lib/patch/managed_fields.h"

/// HorizontalPodAutoscalers between autoscaling/v1 and v2. v1 has one number for the CPU; all else of v2 travels in annotations of the
/// v1 object, which v2 never shows.
namespace apimesh::core_api {

/// Removes the annotations that stand for fields of v2.
void DropRoundTripAnnotations(meta::json::object& document);

/// Changes a document of one version into the other; apiVersion stays. An object without a metric gets 80 % CPU on its way to v2.
/// An annotation that makes no sense counts as none.
void HpaToV1(meta::json::object& document);
void HpaToV2(meta::json::object& document);

/// For owners of fields: the object, of the version it says, in another one.
std::optional<patch::ManagerInfo::View> ConvertHpa(const meta::Object& object, std::string_view api_version);

/// spec.metrics of an object that names none: 80 % of the CPU.
meta::json::array DefaultMetrics();

}  // namespace apimesh::core_api
