#pragma once

#include <string>

#include "lib/admission/plugin.h"

namespace apimesh::admission::policies {

/// Returns the name of the namespace that is the variable namespaceObject, or "" if the request has none. A Namespace
/// is not in a namespace, although the request names it as one.
std::string NamespaceOf(const Attributes& attributes);

}  // namespace apimesh::admission::policies
