#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Enforces the Pod Security Standards that the labels of namespaces choose: rejects pods, warns about pods and pod
/// templates, and adds audit annotations. Reads a PodSecurityConfiguration.
std::unique_ptr<Plugin> MakePodSecurity(const PluginInputs& inputs);

}  // namespace apimesh::admission
