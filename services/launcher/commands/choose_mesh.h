#pragma once

#include <optional>
#include <string>
#include <vector>

namespace apimesh::launcher {

/// Returns the run folders of the meshes that this user is running. They are found by the socket folders that `apimesh
/// up` creates.
std::vector<std::string> RunningMeshes();

/// Creates the link from a socket folder to its run folder, which RunningMeshes() reads.
void LinkRunFolder(const std::string& socket_folder, const std::string& run_folder);

/// Returns the run folder for a command: `given` (--dir) or $APIMESH_DIR if set, else .apimesh if a mesh runs there,
/// else the folder of the only running mesh, else .apimesh. If several meshes run, lists them and returns nullopt.
std::optional<std::string> ChooseMesh(const std::string& given);

}  // namespace apimesh::launcher
