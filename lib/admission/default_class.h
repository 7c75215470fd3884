#pragma once

#include "lib/admission/objects/objects.h"

namespace apimesh::admission {

/// Returns the object that one of these annotations marks as the default ("true"), or nullptr. If there are several,
/// the newest one counts, and then the first name.
Task<meta::Result<ObjectPtr>> FindDefaultClass(meta::RequestContext ctx, ObjectsPtr objects, meta::Gvr resource,
                                               std::vector<std::string_view> annotations);

}  // namespace apimesh::admission
