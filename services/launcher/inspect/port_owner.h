#pragma once

#include <optional>
#include <string>

namespace apimesh::launcher {

/// A process that listens on a port.
struct PortOwner {
  int pid = 0;  // 0: unknown, for example because the process belongs to another user
  std::string name;

  std::string Describe() const;  // "python3 (pid 17)", or "another process"
};

/// Returns who listens on a TCP port so that this process can't; nullopt if the port is free.
std::optional<PortOwner> FindPortOwner(const std::string& address, int port);

}  // namespace apimesh::launcher
