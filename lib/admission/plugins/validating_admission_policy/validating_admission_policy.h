#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Rejects, warns about or audits requests that violate a ValidatingAdmissionPolicy.
std::unique_ptr<Plugin> MakeValidatingAdmissionPolicy(const PluginInputs& inputs);

}  // namespace apimesh::admission
