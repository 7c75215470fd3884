#pragma once

#include "services/core-api/validation/check.h"

/// The rules of HorizontalPodAutoscalers of autoscaling/v2. Objects of v1 are converted before they are validated.
namespace apimesh::core_api {

/// `old` is nullptr for a create.
meta::FieldErrors ValidateHpa(const meta::Object& object, const meta::Object* old);
meta::FieldErrors ValidateHpaStatus(const meta::Object& object);

/// Which versions a reference to another object may have.
enum class ReferenceVersion {
  kAny,         // the version is not checked
  kMayBeCore,   // the group may be missing
  kNeedsGroup,  // the version must name a group
};

// The parts of ValidateHpa(), one file per part.
void ValidateReference(const Check& reference, ReferenceVersion version);
/// Returns the error about an apiVersion, or "".
std::string CheckReferenceVersion(std::string_view api_version, ReferenceVersion version);
void ValidateMetrics(const Check& spec, ReferenceVersion described_objects);

/// Returns the cell of the column Targets for a document of v2.
std::string TargetsText(const meta::json::object& document);

}  // namespace apimesh::core_api
