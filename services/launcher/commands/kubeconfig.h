#pragma once

#include <string>

#include "services/launcher/pki/cluster_pki.h"

namespace apimesh::launcher {

/// A kubeconfig of the admin, with everything in it (no paths), 0600.
void WriteKubeconfig(const std::string& path, const std::string& server, const ClusterPki& pki);

}  // namespace apimesh::launcher
