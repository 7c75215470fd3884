#pragma once

#include <string>
#include <vector>

#include <sys/types.h>

namespace apimesh::launcher {

struct ChildSpec {
  std::string name;                    // "core-api"
  std::vector<std::string> arguments;  // [0] is the binary's path
  std::string log_file;                // standard output and error are appended; empty: inherited
  /// Runs the child in its own process group. A terminal's Ctrl-C then does not reach it, and the launcher can stop all
  /// children in order.
  bool own_group = false;
  /// Exit code 1 soon after the first start means that the child refuses its flags or files, so a restart is useless.
  bool may_refuse = false;
};

/// Starts a process that gets SIGTERM when the launcher dies. Throws std::runtime_error if the binary cannot be
/// started.
pid_t StartChild(const ChildSpec& spec);

/// Returns the resident memory in kB; 0 if the process does not exist.
long ResidentKilobytes(pid_t pid);

}  // namespace apimesh::launcher
