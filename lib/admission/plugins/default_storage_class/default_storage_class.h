#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Gives new claims that name no storage class the class that is marked as the default.
std::unique_ptr<Plugin> MakeDefaultStorageClass(const PluginInputs& inputs);

}  // namespace apimesh::admission
