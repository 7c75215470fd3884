#pragma once

#include <string>

namespace apimesh::rpc {

/// Where a gRPC server of the mesh listens.
struct Listener {
  /// "unix:/path": only this user can connect; the folder is made, for this user alone, if it is missing.
  /// "host:port" (port 0: any): mutual TLS by the mesh CA.
  std::string address;
  std::string ca_file, cert_file, key_file;  // for host:port; reloaded when they change on disk
};

}  // namespace apimesh::rpc
