#pragma once

#include <string>
#include <vector>

namespace apimesh::launcher {

struct PkiOptions {
  std::string folder;
  std::string server = "https://127.0.0.1:6443";
  std::vector<std::string> names;         // host names of the services, for meshes over TCP
  int owner = -1;                         // user id that becomes the owner of the files; -1: unchanged
  std::string aggregator = "aggregator";  // the aggregator's address for Envoy
  std::string mounted_at;                 // path of these files for Envoy; empty: `folder`/envoy
  bool envoy_only = false;                // only Envoy's configuration; others make the certificates
  std::string ext_authz;                  // authn-authz as host:port, if Envoy calls it for every request
};

/// Creates or renews the certificates of a mesh whose processes are started by other means (Compose, Kubernetes): one
/// folder per process (see mesh_pki.h), Envoy's configuration in its folder, and a kubeconfig. Returns the exit code.
int MakePki(const PkiOptions& options);

}  // namespace apimesh::launcher
