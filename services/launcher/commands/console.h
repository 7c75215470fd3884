#pragma once

#include <string>

#include "lib/base/clock.h"
#include "services/launcher/inspect/run_folder.h"
#include "services/launcher/process/child.h"

namespace apimesh::launcher {

struct ConsoleOptions {
  std::string folder;
  std::string address = "127.0.0.1";
  int port = 6480;
  std::string kubeconfig;  // empty: that of the mesh
};

/// Returns the process of the web console. `log_file` is empty for a process in the foreground. Throws
/// std::runtime_error if its pages are not built.
ChildSpec PlanConsole(const ConsoleOptions& options, const RunFolder& folder, const std::string& log_file);

/// Returns the URL of the console at `listens` ("http://127.0.0.1:6480") with a new one-time login.
std::string ConsoleUrl(const RunFolder& folder, const std::string& listens, const Clock& clock);

/// Prints a URL with a one-time login. Starts the console in the foreground, unless the mesh runs one (`up
/// --console`). Returns the exit code.
int Console(const ConsoleOptions& options, const Clock& clock);

}  // namespace apimesh::launcher
