#pragma once

#include <string>
#include <vector>

namespace apimesh::launcher {

struct PkiOptions {
  std::string folder;
  std::string server = "https://127.0.0.1:6443";
  std::vector<std::string> names;  // host names of the services, for meshes over TCP
  int owner = -1;                  // user id that shall read the files; -1: leave it
  std::string aggregator = "aggregator";  // where Envoy finds it
  std::string mounted_at;                 // where Envoy will find these files; empty: in `folder`/envoy
  std::string ext_authz;                  // authn-authz as host:port, if Envoy shall ask it about every request
};

/// Makes or renews the certificates of a mesh whose processes somebody else starts (Compose, Kubernetes): one folder per
/// process (see mesh_pki.h), Envoy's configuration in its folder, and a kubeconfig. Returns the exit code.
int MakePki(const PkiOptions& options);

}  // namespace apimesh::launcher
