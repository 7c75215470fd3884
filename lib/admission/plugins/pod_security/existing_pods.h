#pragma once

#include "lib/admission/objects/objects.h"
#include "lib/admission/plugins/pod_security/configuration.h"

namespace apimesh::admission::pod_security {

/// Returns the warnings for the pods of a namespace that violate a policy which is about to be enforced there. Checks
/// at most 3000 pods, and first one pod of each controller, for at most a second.
std::vector<std::string> CheckExistingPods(std::vector<ObjectPtr> pods, std::string_view ns,
                                           const LevelVersion& enforce, const Configuration& configuration,
                                           const Clock& clock);

}  // namespace apimesh::admission::pod_security
