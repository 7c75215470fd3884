#pragma once

#include <string>
#include <vector>

#include "lib/base/clock.h"

namespace apimesh::launcher {

struct UpOptions {
  std::string folder;
  int port = 6443;
  std::string bind_address = "127.0.0.1";
  std::string front_proxy = "auto";  // auto, envoy, none
  bool envoy_ext_authz = false;      // Envoy calls authn-authz and rejects refused requests itself
  std::string etcd_servers;          // empty: run the mesh's own store
  bool detach = false;
  bool console = false;  // run the web console as well
  int console_port = 6480;
  std::vector<std::string> extra;  // kube-apiserver flags for the services
};

/// Runs the mesh until SIGTERM or SIGINT. With `detach`, starts it in the background and returns when it is ready.
/// Returns the exit code.
int Up(const UpOptions& options, const Clock& clock);

}  // namespace apimesh::launcher
