#pragma once

#include <string>
#include <vector>

namespace apimesh::launcher {

/// Prints what is up, where, and what to type next. Exit code 0 if the mesh is ready, 3 if it is not running.
int ShowStatus(const std::string& folder, bool as_json);

/// Stops the mesh of a folder and waits until it is gone.
int Down(const std::string& folder);

/// Shows the log of one service, or of all; `follow` goes on.
int Logs(const std::string& folder, const std::string& service, bool follow);

/// Runs kubectl with the kubeconfig of a folder; does not return if it can be started.
int Kubectl(const std::string& folder, const std::vector<std::string>& arguments);

}  // namespace apimesh::launcher
