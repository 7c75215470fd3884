#pragma once

#include <memory>

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Admits every request. With --admission-control=AlwaysAdmit no other plugin runs.
std::unique_ptr<Plugin> MakeAlwaysAdmit(const PluginInputs& inputs);
/// Rejects every request.
std::unique_ptr<Plugin> MakeAlwaysDeny(const PluginInputs& inputs);

}  // namespace apimesh::admission
