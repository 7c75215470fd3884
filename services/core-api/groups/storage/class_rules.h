#pragma once

#include "services/core-api/validation/check.h"

/// Rules that StorageClasses and VolumeAttributesClasses share.
namespace apimesh::core_api {

/// Validates the name of a driver or provisioner, which is required. Upper case is accepted.
void ValidateDriver(const Check& root, std::string_view field);
/// Validates the field "parameters": at most 512 entries and 256 KiB.
void ValidateParameters(const Check& root);

}  // namespace apimesh::core_api
