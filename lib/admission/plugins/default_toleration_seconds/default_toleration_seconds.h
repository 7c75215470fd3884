#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Lets pods stay on a node that is not ready or unreachable for a time that two flags set, if the pods do not say how
/// long themselves.
std::unique_ptr<Plugin> MakeDefaultTolerationSeconds(const PluginInputs& inputs);

}  // namespace apimesh::admission
