#pragma once

#include <string>

#include "lib/meta/errors/api_error.h"
#include "lib/meta/object.h"

/// Finds the CSI driver of a volume. Formerly built-in volume sources of Kubernetes are served by CSI drivers.
namespace apimesh::admission::node_restriction {

/// Returns the driver of an inline volume of a pod, or "" if no driver serves it. Returns an error if the driver cannot
/// serve the volume.
meta::Result<std::string> DriverOfInlineVolume(const meta::json::object& volume);
/// The same for a PersistentVolume.
meta::Result<std::string> DriverOfPersistentVolume(const meta::Object& volume);

}  // namespace apimesh::admission::node_restriction
