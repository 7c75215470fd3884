#pragma once

#include <string>
#include <vector>

#include "services/launcher/pki/cluster_pki.h"

namespace apimesh::launcher {

/// Creates the certificates of a mesh whose processes run on several machines or in several containers. In addition to
/// the authorities of the cluster there are mesh-ca, for connections between the processes, and etcd-ca, for
/// connections to the store. Each process has its own folder PKI/<process>/ with its own keys and only the files that
/// it needs. The names of the files are the same in all folders (mesh.crt, etcd.crt, …), so every process can mount its
/// folder at the same path. Missing certificates are created, and those with less than a third of their lifetime left
/// are renewed. Returns the written files as "process/name". `names` are host names and addresses of the processes.
/// Throws std::runtime_error.
std::vector<std::string> EnsureMeshPki(const ClusterPki& cluster, const std::vector<std::string>& names);

}  // namespace apimesh::launcher
