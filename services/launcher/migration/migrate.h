#pragma once

#include <string>

#include "lib/base/clock.h"

namespace apimesh::launcher {

struct MigrateOptions {
  std::string folder;     // of the mesh that gets the data
  std::string from;       // URL of the etcd of the other API server
  bool in_place = false;  // check only; the mesh will use that etcd
  std::string snapshot;   // write a snapshot for another etcd cluster instead of the data of a mesh
  std::string ca_file, cert_file, key_file;
  std::string prefix = "/registry";
  std::string encryption_config;
  bool accept_problems = false;
  bool as_json = false;
};

/// `apimesh migrate`: takes over the data of a kube-apiserver. Copies it, checks every object of the copy, and puts it
/// in place only if this server can serve all of it, so that an aborted migration changes nothing. Returns the exit
/// code.
int Migrate(const MigrateOptions& options, const Clock& clock);

}  // namespace apimesh::launcher
