#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Rejects services with new external IP addresses.
std::unique_ptr<Plugin> MakeDenyServiceExternalIPs(const PluginInputs& inputs);

}  // namespace apimesh::admission
