#pragma once

#include <string>

#include "services/launcher/pki/cluster_pki.h"

namespace apimesh::launcher {

/// Writes a kubeconfig of the administrator with mode 0600. Certificates and keys are embedded, so it contains no
/// paths.
void WriteKubeconfig(const std::string& path, const std::string& server, const ClusterPki& pki);

}  // namespace apimesh::launcher
