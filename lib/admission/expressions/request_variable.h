#pragma once

#include "lib/admission/plugin.h"

namespace apimesh::admission {

/// Returns the variable `request`: an AdmissionRequest without the objects. `kind` and `resource` are those that the
/// policy or webhook has matched; they differ from those of the request if an equivalent resource was matched.
meta::json::object RequestVariable(const meta::RequestContext& ctx, const Attributes& attributes, const meta::Gvk& kind,
                                   const meta::Gvr& resource);

}  // namespace apimesh::admission
