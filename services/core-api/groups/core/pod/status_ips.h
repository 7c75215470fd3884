#pragma once

#include "lib/meta/field_error.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Makes status.podIP and the first of status.podIPs the same. Where they differ, status.podIP wins.
void SyncPodIps(meta::json::object& pod);

/// Rules of status.podIPs and status.hostIPs. Addresses that the old status has may stay as they are written.
meta::FieldErrors ValidateStatusIps(const meta::Object& pod, const meta::Object& old);

}  // namespace apimesh::core_api
