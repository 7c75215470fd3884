#pragma once

#include <string>
#include <vector>

#include "lib/base/clock.h"

namespace apimesh::launcher {

/// Prints the processes and their addresses. Returns exit code 0 if the mesh is ready, 3 if it is not running.
int ShowStatus(const std::string& folder, bool as_json, const Clock& clock);

/// Prints the status and, after the first start in this folder, the next useful commands. Returns the exit code.
int ShowStarted(const std::string& folder, const Clock& clock);

/// Stops the mesh of a folder and waits until it has ended.
int Down(const std::string& folder);

/// Shows the log of one service, or of all. `follow`: keeps printing new lines.
int Logs(const std::string& folder, const std::string& service, bool follow);

/// Runs kubectl with the kubeconfig of a folder. Returns only if kubectl cannot be started.
int Kubectl(const std::string& folder, const std::vector<std::string>& arguments);

}  // namespace apimesh::launcher
