#pragma once

#include <optional>
#include <set>
#include <string>

#include "lib/admission/plugins/pod_security/policy.h"

namespace apimesh::admission::pod_security {

/// A PodSecurityConfiguration of pod-security.admission.config.k8s.io.
struct Configuration {
  Policy defaults;  // for namespaces without labels
  std::set<std::string, std::less<>> exempt_users, exempt_namespaces, exempt_runtime_classes;
};

/// Reads the plugin's section of the configuration file. Throws std::invalid_argument with the errors of
/// kube-apiserver.
Configuration ReadConfiguration(const std::optional<std::string>& section);

}  // namespace apimesh::admission::pod_security
