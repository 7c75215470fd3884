#pragma once

#include <string>
#include <vector>

#include "services/launcher/pki/cluster_pki.h"

namespace apimesh::launcher {

/// The certificates of a mesh whose processes run on several machines or in several containers. Two more authorities lie
/// beside those of the cluster: mesh-ca, for connections between the processes, and etcd-ca, for connections to the store.
/// Each process has its own folder PKI/<process>/ with its own keys and nothing that it does not need. The names of the files
/// are the same everywhere (mesh.crt, etcd.crt, …), so every process can mount its folder at the same path.
/// Makes what is missing, renews what has less than a third of its life left, and returns what was written as
/// "process/name". `names` are host names and addresses of the processes. Throws std::runtime_error.
std::vector<std::string> EnsureMeshPki(const ClusterPki& cluster, const std::vector<std::string>& names);

}  // namespace apimesh::launcher
