#pragma once

#include <string>

#include "lib/meta/api_error.h"
#include "lib/meta/object.h"

/// Which CSI driver serves a volume. Volume sources that were once built into Kubernetes are served by drivers today.
namespace apimesh::admission::node_restriction {

/// The driver of an inline volume of a pod; "" if no driver serves it. An error if the volume cannot be served by its
/// driver.
meta::Result<std::string> DriverOfInlineVolume(const meta::json::object& volume);
/// The same for a PersistentVolume.
meta::Result<std::string> DriverOfPersistentVolume(const meta::Object& volume);

}  // namespace apimesh::admission::node_restriction
