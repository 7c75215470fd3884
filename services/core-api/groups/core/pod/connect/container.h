#pragma once

#include <string>

#include "lib/meta/errors/api_error.h"
#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Returns the container that a request addresses: `asked`, or the only container of the pod. Returns 400 if there is
/// no such container, or if the request does not identify one.
meta::Result<std::string> ContainerOf(const meta::Object& pod, std::string_view asked);

}  // namespace apimesh::core_api
