#pragma once

#include "lib/admission/all_plugins.h"

namespace apimesh::admission {

/// Rejects writes that do not fit into the ResourceQuotas of their namespace, and counts what is used in the status of
/// the quotas. Usage that ends is given back by the quota controller of kube-controller-manager. The section of the
/// configuration file names resources that can be used only where a quota limits them.
std::unique_ptr<Plugin> MakeResourceQuota(const PluginInputs& inputs);

}  // namespace apimesh::admission
