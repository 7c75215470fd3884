#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Gives new ingresses that name no class the IngressClass that is marked as the default.
std::unique_ptr<Plugin> MakeDefaultIngressClass(const PluginInputs& inputs);

}  // namespace apimesh::admission
