#pragma once

#include <string>

#include "lib/meta/api_error.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// The container that a request to a pod means: `asked`, or the only one. 400 if there is no such container or no way to know.
meta::Result<std::string> ContainerOf(const meta::Object& pod, std::string_view asked);

}  // namespace apimesh::core_api
