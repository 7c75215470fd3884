#pragma once

#include <string>

#include "lib/base/clock.h"

namespace apimesh::launcher {

/// How much later revisions continue after data was copied: more revisions than a cluster can write between a backup
/// and its restoration, as etcd recommends.
inline constexpr const char* kRevisionBump = "1000000000";

/// Saves a consistent snapshot of a running mesh in etcd's format, while it serves. The snapshot contains its hash.
int Backup(const std::string& folder, const std::string& file);

/// Replaces the data of a mesh that does not run by a snapshot of `apimesh backup` or of etcd. The previous data is
/// kept in a folder whose name is printed. Resource versions continue above all that clients can have seen, so that
/// clients list again instead of missing events.
int Restore(const std::string& folder, const std::string& file, const Clock& clock);

}  // namespace apimesh::launcher
