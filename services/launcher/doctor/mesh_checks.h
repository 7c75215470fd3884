#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/launcher/doctor/finding.h"
#include "services/launcher/inspect/run_folder.h"

/// Checks of a mesh and its files. `state` is nullopt if the mesh does not run.
namespace apimesh::launcher {

std::vector<Finding> CheckProcesses(const std::optional<RunFolder::State>& state);
/// Whether the port is free if the mesh does not run, and whether the API answers if it does.
Finding CheckApi(const RunFolder& folder, const std::optional<RunFolder::State>& state, int port);
/// Whether the certificates of the folder are valid for at least a month.
std::vector<Finding> CheckCertificates(const RunFolder& folder);
std::vector<Finding> CheckWebhooks(const RunFolder& folder, const std::optional<RunFolder::State>& state);
/// Whether the programs that the commands use are installed.
std::vector<Finding> CheckPrograms();

}  // namespace apimesh::launcher
