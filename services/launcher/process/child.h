#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace apimesh::launcher {

struct ChildSpec {
  std::string name;                    // "core-api"
  std::vector<std::string> arguments;  // [0] is the binary's path
  std::string log_file;                // standard error and output are appended; empty: inherited
  /// A group of its own keeps a terminal's Ctrl-C away from the child, so that the launcher can stop all in order.
  bool own_group = false;
  /// Exit code 1 soon after its first start means that it refuses its flags or files, so that trying again is no use.
  bool may_refuse = false;
};

/// Starts a process that dies with the launcher. Throws std::runtime_error if the binary
/// can't be started.
pid_t StartChild(const ChildSpec& spec);

/// Resident memory in kB; 0 if the process is gone.
long ResidentKilobytes(pid_t pid);

}  // namespace apimesh::launcher
