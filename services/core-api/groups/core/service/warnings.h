#pragma once

#include <string>
#include <vector>

#include "lib/meta/object.h"

namespace apimesh::core_api {

/// Returns the warnings about a service that is valid but does not do what its author may expect.
std::vector<std::string> ServiceWarnings(const meta::Object& service);
/// Returns the warnings about the addresses in its status.
std::vector<std::string> ServiceStatusWarnings(const meta::Object& service);

}  // namespace apimesh::core_api
