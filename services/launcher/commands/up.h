#pragma once

#include <string>
#include <vector>

namespace apimesh::launcher {

struct UpOptions {
  std::string folder;
  int port = 6443;
  std::string bind_address = "127.0.0.1";
  std::string front_proxy = "auto";  // auto, envoy, none
  bool envoy_ext_authz = false;      // Envoy asks authn-authz itself and refuses at the door
  std::string etcd_servers;          // empty: a store of our own
  bool detach = false;
  std::vector<std::string> extra;  // kube-apiserver flags for the services
};

/// Runs the whole mesh until it is told to stop; with `detach`, until it is ready. Returns the exit code.
int Up(const UpOptions& options);

}  // namespace apimesh::launcher
