#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Returns "driver/pool/device", followed by the share if there is one.
std::string DeviceId(const meta::json::object& device);

/// Removes the status of devices that the update deallocates.
void DropDeallocatedDevices(meta::Object& claim, const meta::Object& old);
meta::FieldErrors ValidateClaimStatus(const meta::Object& claim, const meta::Object& old);

}  // namespace apimesh::core_api
