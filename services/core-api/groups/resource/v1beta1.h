#pragma once

#include "services/core-api/resources/other_version.h"

/// resource.k8s.io/v1beta1 differs from v1 in two places: the fields of an exact request are in the request itself, and
/// the fields of a device are in its field "basic". v1beta2 has the fields of v1.
namespace apimesh::core_api {

/// Conversions between v1beta1 and v1 of ResourceClaims, ResourceClaimTemplates and ResourceSlices.
VersionConversion ClaimV1beta1();
VersionConversion ClaimTemplateV1beta1();
VersionConversion SliceV1beta1();

}  // namespace apimesh::core_api
