#pragma once

#include "lib/meta/errors/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Makes status.podIP equal to the first element of status.podIPs. If they differ, status.podIP takes precedence.
void SyncPodIps(meta::json::object& pod);

/// Validates status.podIPs and status.hostIPs. Addresses that the old status contains are accepted as they are.
meta::FieldErrors ValidateStatusIps(const meta::Object& pod, const meta::Object& old);

}  // namespace apimesh::core_api
