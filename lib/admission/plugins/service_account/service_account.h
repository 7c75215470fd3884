#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Gives each new pod the ServiceAccount that it names, or "default": mounts a token of the account and adds its pull
/// secrets. Rejects pods whose account does not exist, and pods that use Secrets which an account with the annotation
/// kubernetes.io/enforce-mountable-secrets does not list.
std::unique_ptr<Plugin> MakeServiceAccount(const PluginInputs& inputs);

}  // namespace apimesh::admission
